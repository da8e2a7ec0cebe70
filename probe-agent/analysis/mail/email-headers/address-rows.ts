import type { ResultOf } from "#shared/tools/define.ts";
import type { emailHeader } from "#shared/tools/email-header.ts";
import { readAddressList, type AddressFault } from "#probe-agent/analysis/mail/email-headers/addresses.ts";
import type { Field } from "#probe-agent/analysis/mail/email-headers/fields.ts";
import { printable, printableOrNull } from "#probe-agent/analysis/text/printable.ts";

type Row = ResultOf<typeof emailHeader>["addresses"][number];

/** The address fields of a message. */
interface Addresses {
  readonly rows: Row[];
  /** Domain of the first address in From. */
  readonly fromDomain: string | null;
  readonly faults: ReadonlySet<AddressFault>;
}

const FIELDS = ["from", "sender", "reply-to", "to", "cc"];
/** Maximum number of addresses of one field in a result. */
const MAX_ROWS = 200;

/** Reads the address fields. The first of a repeated field counts, as in most mail programs. */
export function readAddresses(byKey: ReadonlyMap<string, readonly Field[]>): Addresses {
  const faults = new Set<AddressFault>();
  const rows = FIELDS.flatMap((field) => {
    const value = byKey.get(field)?.[0]?.value;
    if (value === undefined) return [];
    const list = readAddressList(value);
    for (const fault of list.faults) faults.add(fault);
    return list.mailboxes.slice(0, MAX_ROWS).map(
      ({ name, address, domain, group }): Row => ({
        field,
        name: printableOrNull(name),
        address: printable(address),
        domain: printableOrNull(domain),
        group: printableOrNull(group),
      }),
    );
  });
  const from = rows.find(({ field, domain }) => field === "from" && domain !== null);
  return { rows, fromDomain: from?.domain ?? null, faults };
}
