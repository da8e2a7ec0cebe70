import { isName } from "#probe-agent/analysis/mail/spf/domain-spec.ts";

/** Record types that SPF looks up. */
export type SpfType = "A" | "AAAA" | "MX" | "TXT" | "PTR";

/** Answer of a resolver. The resolver follows aliases; a loop of aliases is SERVFAIL. */
export interface SpfReply {
  /** Response code. Any other word counts as SERVFAIL. */
  readonly status: "NOERROR" | "NXDOMAIN" | "SERVFAIL" | "TIMEOUT" | (string & {});
  /** A, AAAA and PTR as text; MX as `"10 host"`; TXT with its strings joined, one character for each octet (latin1). */
  readonly records: readonly string[];
}

/** Looks up DNS records. `name` has no final dot and can contain any octet between its dots. */
export interface SpfResolver {
  query(name: string, type: SpfType): Promise<SpfReply>;
}

/** Error that ends an evaluation early with temperror or permerror. */
export class SpfStop extends Error {
  readonly result: "temperror" | "permerror";
  constructor(result: "temperror" | "permerror", reason: string) {
    super(reason);
    this.result = result;
  }
}

/**
 * Limits of RFC 7208 section 4.6.4: terms with a DNS lookup, lookups that return no records, and names of one mx or
 * ptr term.
 */
export const LIMITS = { lookups: 10, voidLookups: 2, names: 10 } as const;

/** Lookups that one check has used. Its includes and redirects share the counters. */
export interface Spent {
  lookups: number;
  voidLookups: number;
}

/** Counts a term with a DNS lookup. The eleventh term ends the check with permerror. */
export function spendLookup(spent: Spent): void {
  spent.lookups += 1;
  if (spent.lookups > LIMITS.lookups) throw new SpfStop("permerror", "more than 10 terms need a DNS lookup");
}

/**
 * Looks up the records of a name. A name that DNS cannot hold has no records (section 4.8 leaves that open). Throws
 * SpfStop if the lookup fails, and when the third lookup returns no records.
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
    if (spent.voidLookups > LIMITS.voidLookups)
      throw new SpfStop("permerror", "more than 2 DNS lookups returned no records");
  }
  return found;
}
