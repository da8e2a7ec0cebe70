import { MAX_DENIALS, MAX_ITERATIONS, type Effort } from "#probe-agent/tools/dns/dnssec/effort.ts";
import type { ZoneKey } from "#probe-agent/tools/dns/dnssec/keys.ts";
import { type Name, ancestor, parentOf } from "#probe-agent/tools/dns/dnssec/names.ts";
import { readNsec, type Nsec } from "#probe-agent/tools/dns/dnssec/nsec.ts";
import { groupRrsets, type Rrset } from "#probe-agent/tools/dns/dnssec/rrsets.ts";
import { verifyRrset, type Bounds, type Signed } from "#probe-agent/tools/dns/dnssec/signatures.ts";
import type { DnsRecord } from "#probe-agent/port/dns.ts";
import { createHash } from "node:crypto";

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

const SHA1 = 1;
const OPT_OUT = 1;
// RFC 4648 section 7. A hash of 20 octets has 32 digits.
const BASE32_HEX = "0123456789abcdefghijklmnopqrstuv";

/** An NSEC3 record with a valid signature (RFC 5155 section 3). Hashes are base32hex in lower case. */
export interface Nsec3 {
  readonly hash: string;
  readonly next: string;
  readonly optOut: boolean;
  readonly iterations: number;
  /** Hexadecimal. */
  readonly salt: string;
  readonly types: ReadonlySet<string>;
}

/**
 * Reads the NSEC3 record of an RRset. Returns null if it is unreadable, uses another hash or has unknown flags (section
 * 8.2).
 */
export function readNsec3(set: Rrset, zone: Name): Nsec3 | null {
  const { hash_algorithm, flags, iterations, salt, next_hashed_owner, types } = set.records[0]?.typed ?? {};
  const hash = set.owner.labels[0] ?? "";
  if (hash_algorithm !== SHA1 || Number(flags) > OPT_OUT || !Array.isArray(types)) return null;
  if (hash.length !== 32 || parentOf(set.owner).text !== zone.text) return null;
  return {
    hash,
    next: String(next_hashed_owner).toLowerCase(),
    optOut: Number(flags) === OPT_OUT,
    iterations: Number(iterations),
    salt: String(salt),
    types: new Set(types as string[]),
  };
}

/** Facts about one name from the NSEC3 records of one zone. */
interface Nsec3Facts {
  /** Record of the name itself. */
  readonly match: Nsec3 | null;
  /** Record of the closest existing name above. Null if no record shows one. */
  readonly encloser: { readonly name: Name; readonly record: Nsec3 } | null;
  /** Record whose gap contains the next closer name, which is one label longer than the encloser. */
  readonly cover: Nsec3 | null;
}

/** NSEC3 records of one zone, all with the same parameters. Answers questions about names. */
export class Nsec3Zone {
  readonly #hashes = new Map<string, string | null>();
  readonly #zone: Name;
  readonly #records: readonly Nsec3[];
  readonly #effort: Effort;

  constructor(zone: Name, records: readonly Nsec3[], effort: Effort) {
    this.#zone = zone;
    this.#records = records;
    this.#effort = effort;
  }

  /** Finds the closest encloser proof (section 8.3), searching from the name upwards. */
  facts(name: Name): Nsec3Facts {
    const match = this.match(name);
    for (let count = name.labels.length; count >= this.#zone.labels.length; count -= 1) {
      const candidate = ancestor(name, count);
      const record = this.match(candidate);
      if (record === null) continue;
      const cover = count === name.labels.length ? null : this.cover(ancestor(name, count + 1));
      return { match, encloser: leadsOutOfZone(record) && match === null ? null : { name: candidate, record }, cover };
    }
    return { match, encloser: null, cover: null };
  }

  /** Returns the record of a name itself, or null if there is none. */
  match(name: Name): Nsec3 | null {
    const hash = this.#hash(name);
    return this.#records.find((record) => record.hash === hash) ?? null;
  }

  /** Returns the record whose gap contains a name, or null if there is none. */
  cover(name: Name): Nsec3 | null {
    const hash = this.#hash(name);
    if (hash === null) return null;
    return this.#records.find((record) => inGap(record, hash)) ?? null;
  }

  #hash(name: Name): string | null {
    const known = this.#hashes.get(name.text);
    if (known !== undefined) return known;
    const { iterations = 0, salt = "" } = this.#records[0] ?? {};
    const hash = this.#effort.takeHashRounds(iterations + 1) ? hashName(name, iterations, salt) : null;
    this.#hashes.set(name.text, hash);
    return hash;
  }
}

/**
 * Reports whether a hash is in a record's gap. The last record's gap wraps around the end. The gap of a single record
 * is everything except itself.
 */
function inGap({ hash: from, next: to }: Nsec3, hash: string): boolean {
  return from < to ? from < hash && hash < to : hash > from || hash < to;
}

/**
 * Reports whether names below the record's owner are outside this zone. Section 8.3: a delegation or a DNAME cannot be
 * a closest encloser.
 */
function leadsOutOfZone({ types }: Nsec3): boolean {
  return types.has("DNAME") || (types.has("NS") && !types.has("SOA"));
}

/** Returns the hashed owner name (section 5) as base32hex in lower case. `salt` is hexadecimal. */
export function hashName(name: Name, iterations: number, salt: string): string {
  const saltOctets = Buffer.from(salt, "hex");
  let digest: Uint8Array = name.wire;
  for (let round = 0; round <= iterations; round += 1) {
    digest = createHash("sha1").update(digest).update(saltOctets).digest();
  }
  let text = "";
  for (let bit = 0; bit < 160; bit += 5) {
    const at = bit >>> 3;
    const pair = (digest[at] ?? 0) * 256 + (digest[at + 1] ?? 0);
    text += BASE32_HEX.charAt((pair >>> (11 - (bit & 7))) & 31);
  }
  return text;
}
