import { fact, table } from "#shared/presentation/build.ts";
import type { Fact, Table } from "#shared/presentation/presentation.ts";
import { date } from "#shared/presentation/values.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { dns } from "#shared/tools/dns.ts";

type Dnssec = NonNullable<ResultOf<typeof dns>["dnssec"]>;

const STATUSES = {
  secure: ["valid", "good"],
  insecure: ["not signed", null],
  bogus: ["validation fails", "bad"],
  indeterminate: ["not known", "warning"],
} as const;

/** Says in one fact whether the answers are signed. */
export function dnssecFact({ status }: Dnssec): Fact | null {
  const [text, tone] = STATUSES[status];
  return fact("DNSSEC", text, { tone });
}

/** Says who validated the answers, with what they are signed, and until when. */
export function signingFacts(dnssec: Dnssec, now: Date): readonly (Fact | null)[] {
  const { status, reasons, algorithms, expires_at: end, validated_by: by } = dnssec;
  return [
    fact("Why not known", status === "indeterminate" ? reasons[0] : null),
    fact("Validated by", by === null ? null : by === "local" ? "this probe" : "its resolver"),
    fact("Signed with", algorithms.join(", ")),
    fact("Signatures end", end === null ? null : date(end, now)),
  ];
}

/** Lists the zones from the root down to the name; null without a chain. */
export function chainTable({ chain }: Dnssec): Table | null {
  return table(
    "Chain of trust",
    ["Zone", "DNSSEC", "Keys signed until", "Reason"],
    chain.map(({ zone, status, rrsig, reason }) => {
      const [text, tone] = STATUSES[status];
      return {
        cells: [zone, text, rrsig?.expiration.slice(0, 10), reason],
        tone: tone === "good" ? null : tone,
      };
    }),
  );
}
