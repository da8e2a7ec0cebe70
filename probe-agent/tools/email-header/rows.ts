import type { Severity } from "#shared/contracts/findings.ts";
import type { ANOMALY_ADVICE } from "#probe-agent/tools/email-header/advice.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { emailHeader } from "#shared/tools/email-header/contract.ts";
import { readAddressList, type AddressFault } from "#probe-agent/tools/email-header/addresses.ts";
import type { Field } from "#probe-agent/tools/email-header/fields.ts";
import { printable, printableOrNull } from "#probe-agent/analysis/text/printable.ts";
import { leading } from "#probe-agent/analysis/text/json-size.ts";

type Contract = ResultOf<typeof emailHeader>;
type Flawed<T> = T & { issues: string[] };

/** One anomaly of a message, as `analyseHeaders` lists it. `where` is the name of the field. */
export interface Anomaly {
  id: keyof typeof ANOMALY_ADVICE;
  severity: Severity;
  where: string | null;
  message: string;
}

/** A DKIM signature with its issues. `other_issues` are the issues whose cause is not an anomaly. */
type SignatureRow = Flawed<Contract["dkim_signatures"][number]> & { other_issues: string[] };
/** An ARC chain with its issues and the issues of its sets. */
type ArcChainRow = Flawed<
  Omit<NonNullable<Contract["arc_chain"]>, "sets"> & {
    sets: Flawed<NonNullable<Contract["arc_chain"]>["sets"][number]>[];
  }
>;

/** Analysis of headers: the tool's result before anomalies and issues become findings. */
export type HeaderRows = Omit<
  Contract,
  "findings" | "spf_now" | "elapsed_ms" | "dkim_signatures" | "arc_chain" | "list_unsubscribe"
> & {
  dkim_signatures: SignatureRow[];
  arc_chain: ArcChainRow | null;
  list_unsubscribe: Flawed<NonNullable<Contract["list_unsubscribe"]>> | null;
  anomalies: Anomaly[];
};

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

type FullRows = Omit<HeaderRows, "source" | "observed_at" | "elapsed_ms" | "limitations">;

/** Maximum number of octets of JSON for each list. With the other fields they fit into the 256 KB of a result. */
const SHARES = {
  hops: 40_000,
  headers: 32_000,
  authentication_results: 20_000,
  dkim_signatures: 16_000,
  addresses: 14_000,
  spam_headers: 8_000,
  anomalies: 10_000,
  received_spf: 6_000,
} as const satisfies Partial<Record<keyof FullRows, number>>;

/** Maximum number of octets of lists inside other parts, and of the ARC chain. */
const SMALL_SHARE = 5_000;
const ARC_SHARE = 12_000;

/** Cuts lists to their maximum size. `cut` has a limitation for each list that was cut. */
export function fitLists(result: FullRows): { readonly result: FullRows; readonly cut: readonly string[] } {
  const cut: string[] = [];
  const fit = <T>(name: string, items: readonly T[], share: number): T[] => {
    const kept = leading(items, share);
    if (kept.length < items.length)
      cut.push(`Of ${items.length} entries of ${name} the first ${kept.length} are shown.`);
    return kept;
  };
  const { auth, arc_chain: arc, alignment, content_type: type, list_unsubscribe: list } = result;
  const fitSignatures = (): FullRows["dkim_signatures"] => {
    // other_issues repeats issues and is in no result, so it does not count.
    const rows = result.dkim_signatures.map(({ other_issues: _otherIssues, ...row }) => row);
    return result.dkim_signatures.slice(0, fit("dkim_signatures", rows, SHARES.dkim_signatures).length);
  };
  const fitted: FullRows = {
    ...result,
    hops: fit("hops", result.hops, SHARES.hops),
    headers: fit("headers", result.headers, SHARES.headers),
    authentication_results: fit("authentication_results", result.authentication_results, SHARES.authentication_results),
    dkim_signatures: fitSignatures(),
    addresses: fit("addresses", result.addresses, SHARES.addresses),
    spam_headers: fit("spam_headers", result.spam_headers, SHARES.spam_headers),
    anomalies: fit("anomalies", result.anomalies, SHARES.anomalies),
    received_spf: fit("received_spf", result.received_spf, SHARES.received_spf),
    auth: {
      ...auth,
      dkim: fit("auth.dkim", auth.dkim, SMALL_SHARE),
      others: fit("auth.others", auth.others, SMALL_SHARE),
    },
    alignment: { ...alignment, dkim: fit("alignment.dkim", alignment.dkim, SMALL_SHARE) },
    content_type: type === null ? null : { ...type, parameters: fit("parameters", type.parameters, SMALL_SHARE) },
    list_unsubscribe:
      list === null
        ? null
        : {
            ...list,
            https: fit("https", list.https, SMALL_SHARE),
            http: fit("http", list.http, SMALL_SHARE),
            mailto: fit("mailto", list.mailto, SMALL_SHARE),
          },
    arc_chain: arc === null ? null : { ...arc, sets: fit("arc_chain.sets", arc.sets, ARC_SHARE) },
  };
  return { result: fitted, cut };
}
