import { MAX_DENIALS, MAX_ITERATIONS } from "#probe-agent/analysis/dns/dnssec/effort.ts";
import type { ZoneKey } from "#probe-agent/analysis/dns/dnssec/keys.ts";
import type { Name } from "#probe-agent/analysis/dns/dnssec/names.ts";
import { readNsec, type Nsec } from "#probe-agent/analysis/dns/dnssec/nsec.ts";
import { Nsec3Zone, readNsec3, type Nsec3 } from "#probe-agent/analysis/dns/dnssec/nsec3.ts";
import { groupRrsets } from "#probe-agent/analysis/dns/dnssec/rrsets.ts";
import { verifyRrset, type Bounds, type Signed } from "#probe-agent/analysis/dns/dnssec/signatures.ts";
import type { DnsRecord } from "#probe-agent/port/dns.ts";

/** Denial records of one answer whose signatures are valid, and the faults of the others. */
export interface Denials {
  readonly nsec: readonly Nsec[];
  readonly nsec3: Nsec3Zone | null;
  readonly kind: "nsec" | "nsec3" | null;
  readonly signatures: readonly Signed[];
  /** Faults of the records that were left out, up to 3. */
  readonly faults: readonly string[];
  /** Extra NSEC3 iterations that the zone requires. */
  readonly iterations: number;
}

/** Reports whether a zone requires so many iterations that it counts as not signed (RFC 9276 section 3.2). */
export function tooManyIterations(denials: Denials): boolean {
  return denials.iterations > MAX_ITERATIONS;
}

/** Reads the NSEC and NSEC3 records of an authority section and verifies them with the zone's keys. */
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
      // A record expanded from a wildcard would deny names that its owner says nothing about.
      faults.push(`${set.type} of ${set.owner.text} is expanded from a wildcard, which proves nothing`);
      continue;
    }
    signatures.push(checked);
    if (set.type === "NSEC") nsec.push(...present(readNsec(set)));
    else nsec3.push(...present(readNsec3(set, zone)));
  }
  const [first] = nsec3;
  // RFC 5155 section 8.2: records with different parameters do not form one chain.
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
