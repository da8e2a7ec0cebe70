import { domainToASCII } from "node:url";
import { registrableDomain } from "#shared/internet/registrable-domain.ts";
import { readIp } from "#probe-agent/analysis/network/ip-numbers.ts";
import { arrayOf, recordOf } from "#probe-agent/analysis/registry/rdap/json.ts";

/** Sources of names, best first. */
export const NAME_SOURCES = ["ptr", "observation", "certificate", "provider"] as const;
/** A source of names. */
type NameSource = (typeof NAME_SOURCES)[number];

/** A name as reported by one source. */
export interface SourceName {
  readonly host: string;
  readonly source: NameSource;
  /** In ISO 8601 UTC. Null if the source keeps no times. */
  readonly first_seen: string | null;
  readonly last_seen: string | null;
}

/** A name with the data of all sources. */
export interface SeenName {
  /** A-labels in lower case. The name can begin with "*.". */
  readonly domain: string;
  readonly sources: readonly NameSource[];
  readonly first_seen: string | null;
  readonly last_seen: string | null;
}

const NAME = /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+(?:[a-z][a-z0-9-]{0,61}[a-z0-9])$/;

/**
 * Merges the names of all sources into one row for each name, in the order of the sources. Drops texts that are not
 * host names.
 */
export function mergeNames(names: readonly SourceName[]): readonly SeenName[] {
  const merged = new Map<string, SeenName>();
  const order = (source: NameSource) => NAME_SOURCES.indexOf(source);
  for (const { host, source, ...times } of names.toSorted((one, other) => order(one.source) - order(other.source))) {
    const domain = readName(host);
    if (domain === null) continue;
    const known = merged.get(domain);
    merged.set(domain, {
      domain,
      sources: known === undefined ? [source] : [...new Set([...known.sources, source])],
      first_seen: pick(known?.first_seen ?? null, times.first_seen, (a, b) => (a < b ? a : b)),
      last_seen: pick(known?.last_seen ?? null, times.last_seen, (a, b) => (a > b ? a : b)),
    });
  }
  return [...merged.values()];
}

/**
 * Normalizes a host name to lower-case A-labels without a final dot, with "*." kept. Returns null if it is not a host
 * name.
 */
export function readName(text: string): string | null {
  if (text.length > 300 || /[\p{Cc}\s/\\?#@:%]/u.test(text)) return null;
  const wildcard = text.startsWith("*.") ? "*." : "";
  const name = wildcard + domainToASCII(text.slice(wildcard.length)).replace(/\.$/, "").toLowerCase();
  return name.length <= 253 && NAME.test(name) ? name : null;
}

/**
 * Counts the different registered domains among names. Uses the private section of the Public Suffix List too, because
 * each name below such a suffix belongs to another customer.
 */
export function countRegistrable(domains: readonly string[]): number {
  return new Set(domains.map((domain) => registrableDomain(domain.replace(/^\*\./, "")) ?? domain)).size;
}

function pick(one: string | null, other: string | null, choose: (a: string, b: string) => string): string | null {
  return one === null || other === null ? (one ?? other) : choose(one, other);
}

/** A name that resolved to an address according to a passive DNS service. */
export interface PassiveName {
  readonly host: string;
  /** In ISO 8601 UTC. Null if the row has no such time. */
  readonly first_seen: string | null;
  readonly last_seen: string | null;
}

const MAX_ROWS = 10_000;
const MAX_ROW = 20_000;

/**
 * Parses Common Output Format (draft-dulaunoy-dnsop-passive-dns-cof): one JSON object per line. Returns the names of A
 * and AAAA rows for this address, and the number of lines that could not be read.
 */
export function readPassiveDns(
  text: string,
  ip: string,
): { readonly names: PassiveName[]; readonly unreadable: number } {
  const wanted = readIp(ip);
  const names: PassiveName[] = [];
  let unreadable = 0;
  for (const line of text.split("\n", MAX_ROWS)) {
    if (line.trim() === "") continue;
    const row = line.length > MAX_ROW ? null : parse(line);
    const { rrname, rrtype } = row ?? {};
    if (row === null || typeof rrname !== "string" || typeof rrtype !== "string") {
      unreadable += 1;
      continue;
    }
    // rdata is one text or a list of texts.
    const data = typeof row["rdata"] === "string" ? [row["rdata"]] : arrayOf(row["rdata"], 200);
    const leadsHere = data.some((value) => {
      const read = typeof value === "string" ? readIp(value) : null;
      return read !== null && read.version === wanted?.version && read.value === wanted.value;
    });
    if (!leadsHere || !["A", "AAAA"].includes(rrtype.toUpperCase())) continue;
    names.push({
      host: rrname,
      first_seen: instant(row["time_first"] ?? row["zone_time_first"]),
      last_seen: instant(row["time_last"] ?? row["zone_time_last"]),
    });
  }
  return { names, unreadable };
}

function parse(line: string): Readonly<Record<string, unknown>> | null {
  try {
    return recordOf(JSON.parse(line));
  } catch {
    return null;
  }
}

/** Converts seconds since 1970, as a number or in digits, to ISO 8601 UTC. Null for anything else. */
function instant(value: unknown): string | null {
  const seconds = typeof value === "string" && /^\d{1,11}$/.test(value) ? Number(value) : value;
  if (typeof seconds !== "number" || !(seconds > 0 && seconds < 4_102_444_800)) return null;
  return new Date(Math.floor(seconds) * 1000).toISOString();
}
