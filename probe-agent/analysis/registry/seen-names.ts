import { domainToASCII } from "node:url";
import { registrableDomain } from "#shared/internet/registrable-domain.ts";

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
