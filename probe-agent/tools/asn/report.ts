import type { asn as contract } from "#shared/tools/asn/contract.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { addressType } from "#probe-agent/analysis/network/address-type.ts";
import { asdot, asNumberUse } from "#probe-agent/tools/asn/as-number-use.ts";
import type { AsRecord, Origin } from "#probe-agent/analysis/registry/cymru.ts";
import type { NetworkOwner } from "#probe-agent/analysis/registry/geo.ts";
import type { RdapAutnum } from "#probe-agent/analysis/registry/rdap/autnum.ts";
import { autnumRow } from "#probe-agent/analysis/registry/rdap/rows.ts";

type Result = ResultOf<typeof contract>;

/** Data of all sources. Null means that the source was not asked, did not answer, or knows nothing. */
export interface AsnEvidence {
  readonly host: string | null;
  readonly ip: string | null;
  readonly asn: number | null;
  readonly origin: Origin | null;
  readonly system: AsRecord | null;
  readonly owner: NetworkOwner | null;
  /** Block from the operator's database, in CIDR form. */
  readonly ownerBlock: string | null;
  readonly database: Result["database"];
  readonly autnum: (RdapAutnum & { readonly url: string }) | null;
  /** The source that states that nobody announces the address or holds the number. Null if none does. */
  readonly deniedBy: "cymru" | "rdap" | null;
  readonly limitations: readonly string[];
}

/** Evidence before any source was asked. */
export const NOTHING_KNOWN: AsnEvidence = {
  host: null,
  ip: null,
  asn: null,
  origin: null,
  system: null,
  owner: null,
  ownerBlock: null,
  database: null,
  autnum: null,
  deniedBy: null,
  limitations: [],
};

/**
 * Reports whether no source that could know gave an answer. An internal address and a special-use number are described
 * by the special-purpose registries, so something is known. A statement that there is nothing to know counts as an
 * answer too.
 */
export function knowsNothing({ asn: number, ip, system, autnum, origin, owner, deniedBy }: AsnEvidence): boolean {
  if (deniedBy !== null) return false;
  if (ip !== null && !["public", "anycast"].includes(addressType(ip))) return false;
  if (number !== null && asNumberUse(number).use !== "public") return false;
  return system === null && autnum === null && origin === null && (owner?.asn ?? null) === null;
}

/**
 * Builds the result from the evidence. Routing data and the registry take precedence over the database, which can be
 * older.
 */
export function asnReport(evidence: AsnEvidence): Omit<Result, "query" | "elapsed_ms" | "observed_at"> {
  const { host, ip, asn: number, origin, system, owner, database, autnum } = evidence;
  const special = number === null ? null : asNumberUse(number);
  const isPublic = special?.use === "public";
  return {
    host,
    ip,
    asn: number,
    asdot: number === null ? null : asdot(number),
    use: special?.use ?? null,
    origins: [...(origin?.asns ?? [])],
    name: system?.name ?? autnum?.name ?? null,
    org: autnum?.organization ?? owner?.as_name ?? owner?.organization ?? system?.holder ?? special?.name ?? null,
    country: system?.country ?? autnum?.country ?? null,
    registry: system?.registry ?? registryOf(autnum?.port43 ?? null) ?? origin?.registry ?? null,
    allocated: system?.allocated ?? autnum?.registered_at?.slice(0, 10) ?? null,
    prefix: origin?.prefix ?? evidence.ownerBlock,
    prefixes: { ipv4: null, ipv6: null },
    peers: null,
    upstreams: null,
    abuse: autnum?.abuse_email ?? null,
    rdap: autnum === null ? null : autnumRow(autnum, autnum.url),
    database: database && { ...database },
    source: [
      ...(owner === null ? [] : ["asn_db"]),
      ...(origin === null && system === null && evidence.deniedBy !== "cymru" ? [] : ["cymru"]),
      ...(autnum === null && evidence.deniedBy !== "rdap" ? [] : ["rdap"]),
      ...(special === null || isPublic ? [] : ["iana"]),
    ],
    limitations: [
      ...evidence.limitations,
      ...(isPublic ? ["Prefix counts, peers and upstreams are not known: this probe has no source for them."] : []),
    ],
  };
}

/** Returns Team Cymru's name of the registry whose WHOIS host this is, e.g. "ripencc" for whois.ripe.net. */
function registryOf(port43: string | null): string | null {
  const [, name] = /^whois\.(afrinic|apnic|arin|lacnic|ripe)\.net$/i.exec(port43 ?? "") ?? [];
  return name === undefined ? null : name.toLowerCase().replace("ripe", "ripencc");
}
