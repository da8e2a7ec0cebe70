import type { ResultOf } from "#shared/tools/define.ts";
import type { ssl } from "#shared/tools/ssl/contract.ts";
import { isUsableTlsa, satisfiesTlsa, type Tlsa } from "#probe-agent/analysis/tls/certificate/tlsa.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";
import { allowsIssuer, type CaaRow } from "#probe-agent/tools/ssl/caa.ts";
import type { ChainTerms, ServerChain } from "#probe-agent/analysis/tls/ssl/server.ts";

type Result = ResultOf<typeof ssl>;

/** DNS records that limit the certificates and authorities of a host. */
export interface NamesFacts {
  readonly tlsa: {
    readonly status: "secure" | "insecure" | "bogus" | "absent" | "unknown";
    readonly reason: string | null;
    readonly records: readonly Tlsa[];
  };
  readonly caa: CaaSeen;
  /** Whether the certificate matches the host only by a wildcard. */
  readonly wildcard: boolean;
}

/** CAA records that apply to a name. */
export interface CaaSeen {
  /** Null if the look-up failed. */
  readonly rows: readonly CaaRow[] | null;
  /** Why the look-up failed; null if it did not. */
  readonly why: string | null;
}

/** Fields of the result, and limitations. */
interface NamesReport {
  readonly fields: Pick<Result, "dane" | "caa" | "caa_allows_issuer">;
  readonly limitations: readonly string[];
}

const MAX_TLSA = 20;
const MAX_DATA = 512;
const MAX_CAA = 50;
const MAX_VALUE = 256;

/** Compares the server's chain with TLSA and CAA records. */
export function reportNames(facts: NamesFacts | null, chain: ServerChain, terms: ChainTerms): NamesReport {
  if (facts === null) return { fields: { dane: null, caa: null, caa_allows_issuer: null }, limitations: [] };
  const { tlsa, caa, wildcard } = facts;
  const rows = caa.rows?.slice(0, MAX_CAA) ?? null;
  return {
    fields: {
      dane: reportDane(tlsa, chain, terms),
      caa: rows?.map(printableRow) ?? null,
      caa_allows_issuer: rows === null ? null : allowsIssuer(rows, chain.leaf, wildcard),
    },
    limitations: [
      ...(tlsa.status === "unknown" ? [`DANE could not be checked: ${tlsa.reason ?? "no answer"}.`] : []),
      ...(tlsa.records.length > MAX_TLSA
        ? [`Only the first ${MAX_TLSA} of ${tlsa.records.length} TLSA records were checked.`]
        : []),
      ...(caa.why === null ? [] : [`CAA records could not be looked up: ${printable(caa.why)}.`]),
    ],
  };
}

function reportDane(
  { status, reason, records }: NamesFacts["tlsa"],
  { leaf, sent, verification }: ServerChain,
  { host, now }: ChainTerms,
): Result["dane"] {
  const others = sent.slice(1).filter((certificate) => certificate !== null);
  const tlsa = records.slice(0, MAX_TLSA).map((record) => ({
    usage: record.usage,
    selector: record.selector,
    matching_type: record.matchingType,
    data: record.data.slice(0, MAX_DATA),
    usable: isUsableTlsa(record),
    matches: satisfiesTlsa(record, { leaf, others, host, now, verification }),
  }));
  const usable = tlsa.filter((record) => record.usable);
  const isMatch = status === "secure" && usable.length > 0 ? usable.some(({ matches }) => matches) : null;
  return {
    tlsa,
    tlsa_total: records.length,
    // If the records are bogus, a client must not connect (RFC 6698 section 4.1).
    valid: status === "bogus" ? false : isMatch,
    dnssec: status === "secure" || status === "insecure" || status === "bogus" ? status : null,
    reason: reason === null ? null : printable(reason),
  };
}

function printableRow({ name, critical, tag, value }: CaaRow): CaaRow {
  return { name, critical, tag: printable(tag, MAX_VALUE), value: printable(value, MAX_VALUE) };
}
