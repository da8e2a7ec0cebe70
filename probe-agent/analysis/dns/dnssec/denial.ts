import { MAX_DENIALS, MAX_ITERATIONS } from "#probe-agent/analysis/dns/dnssec/effort.ts";
import type { ZoneKey } from "#probe-agent/analysis/dns/dnssec/keys.ts";
import type { Name } from "#probe-agent/analysis/dns/dnssec/names.ts";
import { readNsec, type Nsec } from "#probe-agent/analysis/dns/dnssec/nsec.ts";
import { Nsec3Zone, readNsec3, type Nsec3 } from "#probe-agent/analysis/dns/dnssec/nsec3.ts";
import { groupRrsets } from "#probe-agent/analysis/dns/dnssec/rrsets.ts";
import { verifyRrset, type Bounds, type Signed } from "#probe-agent/analysis/dns/dnssec/signatures.ts";
import type { DnsRecord } from "#probe-agent/port/dns.ts";

/** Denial records of one answer whose signatures stand, and why others do not. */
export interface Denials {
  readonly nsec: readonly Nsec[];
  readonly nsec3: Nsec3Zone | null;
  readonly kind: "nsec" | "nsec3" | null;
  readonly signatures: readonly Signed[];
  /** What was wrong with the records left out. */
  readonly faults: readonly string[];
  /** Extra NSEC3 iterations the zone asks for. */
  readonly iterations: number;
}

/** Iterations too many: the zone counts as not signed (RFC 9276 section 3.2). */
export function tooManyIterations(denials: Denials): boolean {
  return denials.iterations > MAX_ITERATIONS;
}

/** Reads and verifies the NSEC and NSEC3 records of an authority section with the zone's keys. */
export function readDenials(
  bounds: Bounds,
  authority: readonly DnsRecord[],
  zone: Name,
  keys: readonly ZoneKey[],
): Denials {
  const sets = groupRrsets(authority).filter(({ type }) => type === "NSEC" || type === "NSEC3");
  const nsec: Nsec[] = [];
  const nsec3: Nsec3[] = [];
  const signatures: Signed[] = [];
  const faults: string[] = [];
  for (const set of sets.slice(0, MAX_DENIALS)) {
    const checked = verifyRrset(bounds, set, zone, keys);
    if (!checked.ok) {
      faults.push(...checked.reasons);
      continue;
    }
    if (checked.wildcard !== null) {
      // An expanded one would deny what its owner never spoke of.
      faults.push(`${set.type} of ${set.owner.text} is made from a wildcard, which proves nothing`);
      continue;
    }
    signatures.push(checked);
    if (set.type === "NSEC") nsec.push(...present(readNsec(set)));
    else nsec3.push(...present(readNsec3(set, zone)));
  }
  const [first] = nsec3;
  // Section 8.2: sets with different parameters are no chain.
  const same = nsec3.every((record) => record.iterations === first?.iterations && record.salt === first.salt);
  if (!same) faults.push(`The NSEC3 records of ${zone.text} have different parameters`);
  const usable = same && first !== undefined && first.iterations <= MAX_ITERATIONS;
  return {
    nsec,
    nsec3: usable ? new Nsec3Zone(zone, nsec3, bounds.effort) : null,
    kind: nsec.length > 0 ? "nsec" : nsec3.length > 0 ? "nsec3" : null,
    signatures,
    faults: faults.slice(0, 3),
    iterations: Math.max(0, ...nsec3.map(({ iterations }) => iterations)),
  };
}

function present<T>(value: T | null): readonly T[] {
  return value === null ? [] : [value];
}
