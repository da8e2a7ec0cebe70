import {
  ancestor,
  commonLabels,
  compareNames,
  isBelow,
  isWithin,
  nameField,
  wildcardAt,
  type Name,
} from "#probe-agent/tools/dns/dnssec/names.ts";
import type { Rrset } from "#probe-agent/tools/dns/dnssec/rrsets.ts";

/** An NSEC record with a valid signature (RFC 4034 section 4). */
export interface Nsec {
  readonly owner: Name;
  readonly next: Name;
  readonly types: ReadonlySet<string>;
}

/** Reads the NSEC record of an RRset. Returns null if it is unreadable. */
export function readNsec(set: Rrset): Nsec | null {
  const typed = set.records[0]?.typed ?? {};
  const next = nameField(typed, "next_domain_name");
  if (next === null || !Array.isArray(typed["types"])) return null;
  return { owner: set.owner, next, types: new Set(typed["types"] as string[]) };
}

/** Facts about one name from the NSEC records of its zone. */
interface NsecFacts {
  /** Record of the name itself. */
  readonly match: Nsec | null;
  /** Record whose gap contains the name. */
  readonly cover: Nsec | null;
  /** Whether the name has no records but there are names below it (empty non-terminal). */
  readonly empty: boolean;
}

/** Looks up a name in the NSEC records of its zone. */
export function nsecFacts(zone: Name, records: readonly Nsec[], name: Name): NsecFacts {
  const inZone = records.filter((record) => isWithin(record.owner, zone) && isWithin(record.next, zone));
  const match = inZone.find((record) => record.owner.text === name.text) ?? null;
  const cover = inZone.find((record) => covers(zone, record, name)) ?? null;
  return { match, cover, empty: cover !== null && isBelow(cover.next, name) };
}

function covers(zone: Name, record: Nsec, name: Name): boolean {
  if (compareNames(record.owner, name) >= 0 || leadsOutOfZone(record, name)) return false;
  // The zone's last record points back to the apex.
  return record.next.text === zone.text || compareNames(name, record.next) < 0;
}

/**
 * Reports whether a name is outside the zone of the record's owner, below a delegation or a DNAME. RFC 6840 section
 * 4.1: such a record describes only its own zone and must not be used for the name.
 */
function leadsOutOfZone(record: Nsec, name: Name): boolean {
  if (!isBelow(name, record.owner)) return false;
  return record.types.has("DNAME") || (record.types.has("NS") && !record.types.has("SOA"));
}

/**
 * Returns the closest encloser: the longest existing name above a name that `cover` proves absent (RFC 4592 section
 * 3.3.1).
 */
export function closestEncloser(cover: Nsec, name: Name): Name {
  return ancestor(name, Math.max(commonLabels(cover.owner, name), commonLabels(cover.next, name)));
}

/**
 * Returns the wildcard that would answer for a name that does not exist, from the record that covers the name. Null if
 * that wildcard would be too long.
 */
export function wildcardFor(cover: Nsec, name: Name): Name | null {
  return wildcardAt(closestEncloser(cover, name));
}
