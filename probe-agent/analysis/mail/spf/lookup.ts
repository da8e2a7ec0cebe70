import { isName } from "#probe-agent/analysis/mail/spf/domain-spec.ts";

/** Record types SPF asks for. */
export type SpfType = "A" | "AAAA" | "MX" | "TXT" | "PTR";

/** What a resolver says, aliases followed (a loop of them is SERVFAIL). */
export interface SpfReply {
  /** Any other word than these counts as SERVFAIL does. */
  readonly status: "NOERROR" | "NXDOMAIN" | "SERVFAIL" | "TIMEOUT" | (string & {});
  /** A, AAAA and PTR as text, MX as `"10 host"`, TXT joined with one character per octet (latin1). */
  readonly records: readonly string[];
}

/** Answers questions. `name` has no final dot and may hold any octet between its dots. */
export interface SpfResolver {
  query(name: string, type: SpfType): Promise<SpfReply>;
}

/** Why an evaluation ends before its record does. */
export class SpfStop extends Error {
  readonly result: "temperror" | "permerror";
  constructor(result: "temperror" | "permerror", reason: string) {
    super(reason);
    this.result = result;
  }
}

/** RFC 7208 section 4.6.4: terms that ask the DNS, answers without records, and names of one mx or ptr. */
export const LIMITS = { lookups: 10, voidLookups: 2, names: 10 } as const;

/** What one check has spent; its includes and redirects share it. */
export interface Spent {
  lookups: number;
  voidLookups: number;
}

/** Counts a term that asks the DNS; the eleventh ends the check. */
export function spendLookup(spent: Spent): void {
  spent.lookups += 1;
  if (spent.lookups > LIMITS.lookups) throw new SpfStop("permerror", "more than 10 terms ask the DNS");
}

/**
 * Records of a name; a name that DNS cannot hold has none (section 4.8 leaves that open). Throws SpfStop when nobody
 * answers, and at the third answer without records.
 */
export async function askRecords(
  resolver: SpfResolver,
  spent: Spent,
  name: string,
  type: SpfType,
): Promise<readonly string[]> {
  if (!isName(name)) return [];
  const { status, records } = await resolver.query(name, type);
  if (status !== "NOERROR" && status !== "NXDOMAIN") {
    throw new SpfStop("temperror", `the ${type} records of ${name} could not be looked up (${status})`);
  }
  const found = status === "NOERROR" ? records : [];
  if (found.length === 0) {
    spent.voidLookups += 1;
    if (spent.voidLookups > LIMITS.voidLookups) throw new SpfStop("permerror", "more than 2 look-ups found nothing");
  }
  return found;
}
