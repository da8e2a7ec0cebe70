import { domainToASCII } from "node:url";
import { registrableDomain } from "#shared/registrable-domain.ts";

/** Sources of names, the best first. */
export const NAME_SOURCES = ["ptr", "observation", "certificate", "provider"] as const;
/** One of them. */
type NameSource = (typeof NAME_SOURCES)[number];

/** A name as one source has it. */
export interface SourceName {
  readonly host: string;
  readonly source: NameSource;
  /** ISO 8601 UTC; null where the source keeps no times. */
  readonly first_seen: string | null;
  readonly last_seen: string | null;
}

/** A name as all sources together have it. */
export interface SeenName {
  /** Lower-case A-labels; may begin with "*.". */
  readonly domain: string;
  readonly sources: readonly NameSource[];
  readonly first_seen: string | null;
  readonly last_seen: string | null;
}

const NAME = /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+(?:[a-z][a-z0-9-]{0,61}[a-z0-9])$/;

/** One row for each name that a host can have, in the order of the sources; what is no name is left out. */
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

/** A host name in lower-case A-labels without final dot, "*." kept; null for what is none. */
export function readName(text: string): string | null {
  if (text.length > 300 || /[\p{Cc}\s/\\?#@:%]/u.test(text)) return null;
  const wildcard = text.startsWith("*.") ? "*." : "";
  const name = wildcard + domainToASCII(text.slice(wildcard.length)).replace(/\.$/, "").toLowerCase();
  return name.length <= 253 && NAME.test(name) ? name : null;
}

/** Different registered domains among names (Public Suffix List, private section too: one customer each). */
export function countRegistrable(domains: readonly string[]): number {
  return new Set(domains.map((domain) => registrableDomain(domain.replace(/^\*\./, "")) ?? domain)).size;
}

function pick(one: string | null, other: string | null, choose: (a: string, b: string) => string): string | null {
  return one === null || other === null ? (one ?? other) : choose(one, other);
}
