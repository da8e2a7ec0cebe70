import { algorithmName, findAlgorithm } from "#probe-agent/tools/dns/dnssec/algorithms.ts";
import { MAX_KEYS_PER_TAG, MAX_TRIES_PER_RRSET, type Effort } from "#probe-agent/tools/dns/dnssec/effort.ts";
import { verifies, type ZoneKey } from "#probe-agent/tools/dns/dnssec/keys.ts";
import { ancestor, isWithin, wildcardAt, type Name } from "#probe-agent/tools/dns/dnssec/names.ts";
import { signedData, type Rrset, type Signature } from "#probe-agent/tools/dns/dnssec/rrsets.ts";

// Checking one is cheap, but a message can hold thousands.
const MAX_SIGNATURES = 200;
const MAX_REASONS = 3;

/** Time and budget of one lookup. */
export interface Bounds {
  /** Seconds since 1970. */
  readonly now: number;
  readonly effort: Effort;
}

/**
 * A valid signature and the key that made it. `wildcard` is the wildcard's name if the answer was expanded from one,
 * otherwise null.
 */
export interface Signed {
  readonly ok: true;
  readonly signature: Signature;
  readonly key: ZoneKey;
  readonly wildcard: Name | null;
}

/**
 * The valid signature, or the reasons why there is none: one sentence for each kind of fault. Up to three reasons, or
 * four if the budget is spent.
 */
type Checked = Signed | { readonly ok: false; readonly reasons: readonly string[] };

/** Verifies an RRset with its zone's keys (RFC 4035 section 5.3). One valid signature is enough. */
export function verifyRrset(bounds: Bounds, set: Rrset, zone: Name, keys: readonly ZoneKey[]): Checked {
  if (set.signatures.length === 0) {
    return {
      ok: false,
      reasons: [`${describe(set)} has no signature (RRSIG missing), although ${zone.text} is signed`],
    };
  }
  const reasons = new Set<string>();
  let tries = 0;
  for (const signature of set.signatures.slice(0, MAX_SIGNATURES)) {
    const fault = faultOf(set, signature, zone, bounds.now);
    const able = fault === null ? keysFor(signature, keys) : [];
    const unable = fault ?? unusable(signature, zone, keys, able);
    if (unable !== null) reasons.add(`${signatureOf(set, signature)} ${unable}`);
    const wildcard = wildcardOf(set.owner, signature);
    for (const key of able) {
      if (tries >= MAX_TRIES_PER_RRSET || !bounds.effort.takeVerification()) {
        const reason = `${describe(set)} has more signatures and keys to try than any honest zone needs (CVE-2023-50387)`;
        return { ok: false, reasons: [reason, ...[...reasons].slice(0, MAX_REASONS)] };
      }
      tries += 1;
      if (verifies(key, signedData(set, signature, wildcard ?? set.owner), signature.signature)) {
        return { ok: true, signature, key, wildcard };
      }
      bounds.effort.noteFailure();
      reasons.add(`${signatureOf(set, signature)} does not verify: the data or the signature was changed`);
    }
  }
  return { ok: false, reasons: [...reasons].slice(0, MAX_REASONS) };
}

function describe(set: Rrset): string {
  return `${set.type} of ${set.owner.text}`;
}

function signatureOf(set: Rrset, { signer, keyTag, algorithm }: Signature): string {
  return `The signature of ${describe(set)} by ${signer.text}, key ${keyTag} (${algorithmName(algorithm)}),`;
}

/** Returns what is wrong with a signature before any key is tried, or null if nothing is. */
function faultOf(set: Rrset, signature: Signature, zone: Name, now: number): string | null {
  if (signature.signer.text !== zone.text) return `is not by ${zone.text}, the zone of the name`;
  if (!isWithin(set.owner, zone)) return "covers a name outside its zone";
  if (signature.labels > countedLabels(set.owner)) return "claims more labels than the name has";
  if (signature.labels < zone.labels.length) return "claims fewer labels than its zone has";
  if (isLater(signature.inception, signature.expiration)) return "ends before it begins";
  if (isLater(signature.inception, now)) return `is not yet valid: it begins ${isoTime(signature.inception, now)}`;
  if (isLater(now, signature.expiration)) return `expired at ${isoTime(signature.expiration, now)}`;
  return findAlgorithm(signature.algorithm) === null ? "has an unsupported algorithm" : null;
}

function keysFor(signature: Signature, keys: readonly ZoneKey[]): readonly ZoneKey[] {
  const named = keys.filter((key) => key.tag === signature.keyTag && key.algorithm === signature.algorithm);
  return named.filter((key) => key.fault === null).slice(0, MAX_KEYS_PER_TAG);
}

function unusable(signature: Signature, zone: Name, keys: readonly ZoneKey[], able: readonly ZoneKey[]): string | null {
  if (able.length > 0) return null;
  const named = keys.find((key) => key.tag === signature.keyTag && key.algorithm === signature.algorithm);
  if (named !== undefined) return `does not count: the key ${named.fault ?? "is unusable"}`;
  return `refers to a key that ${zone.text} does not have (DNSKEY missing)`;
}

/** Counts the labels as an RRSIG does (RFC 4034 section 3.1.3): without the root and without a leading asterisk. */
function countedLabels(owner: Name): number {
  return owner.labels[0] === "*" ? owner.labels.length - 1 : owner.labels.length;
}

/**
 * Returns the wildcard that an answer was expanded from (RFC 4035 section 5.3.2). Null if the owner itself is in the
 * zone.
 */
function wildcardOf(owner: Name, signature: Signature): Name | null {
  if (signature.labels >= countedLabels(owner)) return null;
  return wildcardAt(ancestor(owner, signature.labels));
}

/**
 * Reports whether `one` is later than `other`, in serial number arithmetic on 32-bit seconds (RFC 4034 section 3.1.5,
 * RFC 1982).
 */
function isLater(one: number, other: number): boolean {
  const ahead = (one - other) >>> 0;
  return ahead !== 0 && ahead < 2 ** 31;
}

/** Formats a 32-bit time as ISO 8601 UTC, in the era around `now` (seconds since 1970). */
export function isoTime(serial: number, now: number): string {
  return new Date((now + ((serial - now) | 0)) * 1000).toISOString().replace(".000Z", "Z");
}
