import {
  ancestor,
  commonLabels,
  compareNames,
  isBelow,
  isWithin,
  nameField,
  wildcardAt,
  type Name,
} from "#probe-agent/analysis/dns/dnssec/names.ts";
import type { Rrset } from "#probe-agent/analysis/dns/dnssec/rrsets.ts";

/** One NSEC record whose signature stands (RFC 4034 section 4). */
export interface Nsec {
  readonly owner: Name;
  readonly next: Name;
  readonly types: ReadonlySet<string>;
}

/** Reads the NSEC of an RRset; null where it is not readable. */
export function readNsec(set: Rrset): Nsec | null {
  const typed = set.records[0]?.typed ?? {};
  const next = nameField(typed, "next_domain_name");
  if (next === null || !Array.isArray(typed["types"])) return null;
  return { owner: set.owner, next, types: new Set(typed["types"] as string[]) };
}

/** What the NSEC records of one zone say about one name. */
interface NsecFacts {
  /** The record of the name itself. */
  readonly match: Nsec | null;
  /** A record whose gap holds the name. */
  readonly cover: Nsec | null;
  /** The name has no records but there are names below it (empty non-terminal). */
  readonly empty: boolean;
}

/** Looks a name up among the NSEC records of its zone. */
export function nsecFacts(zone: Name, records: readonly Nsec[], name: Name): NsecFacts {
  const inZone = records.filter((record) => isWithin(record.owner, zone) && isWithin(record.next, zone));
  const match = inZone.find((record) => record.owner.text === name.text) ?? null;
  const cover = inZone.find((record) => covers(zone, record, name)) ?? null;
  return { match, cover, empty: cover !== null && isBelow(cover.next, name) };
}

function covers(zone: Name, record: Nsec, name: Name): boolean {
  if (compareNames(record.owner, name) >= 0 || leadsAway(record, name)) return false;
  // The last record of the zone points back to the apex.
  return record.next.text === zone.text || compareNames(name, record.next) < 0;
}

/**
 * RFC 6840 section 4.1: below a delegation or a DNAME the record's owner is not the one to ask, it speaks of its own
 * zone only.
 */
function leadsAway(record: Nsec, name: Name): boolean {
  if (!isBelow(name, record.owner)) return false;
  return record.types.has("DNAME") || (record.types.has("NS") && !record.types.has("SOA"));
}

/** The longest name that exists and is above one that `cover` shows not to exist (RFC 4592 section 3.3.1). */
export function closestEncloser(cover: Nsec, name: Name): Name {
  return ancestor(name, Math.max(commonLabels(cover.owner, name), commonLabels(cover.next, name)));
}

/** The wildcard that would answer for a name that does not exist, from the record that covers it. */
export function wildcardFor(cover: Nsec, name: Name): Name | null {
  return wildcardAt(closestEncloser(cover, name));
}
