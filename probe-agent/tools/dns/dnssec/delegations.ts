import { createHash } from "node:crypto";
import { isSameOctets } from "#shared/text/same-octets.ts";
import { algorithmName, digestHash, findAlgorithm } from "#probe-agent/tools/dns/dnssec/algorithms.ts";
import { MAX_KEYS, MAX_KEYS_PER_TAG } from "#probe-agent/tools/dns/dnssec/effort.ts";
import { readKey, type ZoneKey } from "#probe-agent/tools/dns/dnssec/keys.ts";
import type { Name } from "#probe-agent/tools/dns/dnssec/names.ts";
import type { Rrset } from "#probe-agent/tools/dns/dnssec/rrsets.ts";
import { verifyRrset, type Bounds, type Signed } from "#probe-agent/tools/dns/dnssec/signatures.ts";

/** A DS record (RFC 4034 section 5). */
export interface Ds {
  readonly keyTag: number;
  readonly algorithm: number;
  readonly digestType: number;
  /** Hexadecimal in upper case. */
  readonly digest: string;
}

/** Trusted records that a zone's keys must match: its parent's DS records, or the operator's trust anchors. */
export interface Trust {
  readonly ds: readonly Ds[];
  /** RDATA of trusted DNSKEY records. */
  readonly keys: readonly Uint8Array[];
  /** Whether both come from trust anchors and not from the parent zone. */
  readonly anchored: boolean;
}

/** Result of checking a zone's DNSKEY records. `weak` is true if all usable DS records are SHA-1 digests. */
type ZoneKeys =
  | { readonly status: "secure"; readonly signed: Signed; readonly weak: boolean }
  | { readonly status: "insecure" | "bogus"; readonly reasons: readonly string[] };

/** Reads DS RDATA. Returns null if it is too short. */
export function readDs(rdata: Uint8Array): Ds | null {
  const [high = 0, low = 0, algorithm = 0, digestType = 0] = rdata;
  if (rdata.length < 5) return null;
  const digest = Buffer.from(rdata.subarray(4)).toString("hex").toUpperCase();
  return { keyTag: high * 256 + low, algorithm, digestType, digest };
}

/** Reads the first 64 DS records of an RRset. */
export function readDsRecords(set: Rrset): readonly Ds[] {
  const read = set.records.slice(0, MAX_KEYS).map(({ raw }) => readDs(raw));
  return read.filter((ds) => ds !== null);
}

/** Reads the first 64 keys of a DNSKEY RRset. */
export function readKeys(set: Rrset): readonly ZoneKey[] {
  return set.records.slice(0, MAX_KEYS).map(({ raw }) => readKey(raw));
}

/** Reports whether a DS record refers to this key of the zone (RFC 4034 section 5.1.4). */
export function matchesDs(zone: Name, key: ZoneKey, ds: Ds): boolean {
  const hash = digestHash(ds.digestType);
  if (hash === null || ds.keyTag !== key.tag || ds.algorithm !== key.algorithm) return false;
  return createHash(hash).update(zone.wire).update(key.rdata).digest("hex").toUpperCase() === ds.digest;
}

/**
 * Checks a zone's DNSKEY RRset (RFC 4035 section 5.2): a trusted key must sign the set. If no DS record has a supported
 * algorithm and digest, and no trusted key has a supported algorithm, the zone counts as not signed.
 */
export function verifyKeys(bounds: Bounds, zone: Name, set: Rrset, trust: Trust): ZoneKeys {
  const usable: Trust = {
    ds: usableDs(trust.ds),
    keys: trust.keys.filter((rdata) => findAlgorithm(rdata[3] ?? 0) !== null),
    anchored: trust.anchored,
  };
  if (usable.ds.length === 0 && usable.keys.length === 0) {
    return { status: "insecure", reasons: [unsupported(zone, trust)] };
  }
  const keys = readKeys(set);
  const trusted = trustedKeys(zone, keys, usable);
  if (trusted.length === 0) return { status: "bogus", reasons: [noMatch(zone, keys, usable)] };
  const able = trusted.filter((key) => key.fault === null);
  if (able.length === 0) {
    return {
      status: "bogus",
      reasons: trusted.map((key) => `The trusted key ${key.tag} of ${zone.text} ${key.fault}`),
    };
  }
  const checked = verifyRrset(bounds, set, zone, able);
  if (!checked.ok) return { status: "bogus", reasons: notSigned(zone, set, able, checked.reasons) };
  const weak = usable.ds.length > 0 && usable.ds.every((ds) => ds.digestType === 1);
  return { status: "secure", signed: checked, weak };
}

/** Returns the DS records that count. SHA-1 digests do not count if there are better ones (RFC 4509 section 3). */
function usableDs(all: readonly Ds[]): readonly Ds[] {
  const supported = all.filter((ds) => findAlgorithm(ds.algorithm) !== null && digestHash(ds.digestType) !== null);
  const better = supported.filter((ds) => ds.digestType !== 1);
  return better.length > 0 ? better : supported;
}

function trustedKeys(zone: Name, keys: readonly ZoneKey[], trust: Trust): readonly ZoneKey[] {
  const tried = new Map<string, number>();
  return keys.filter((key) => {
    // Keys with the same tag and algorithm would each be hashed for each DS record.
    const group = `${key.tag} ${key.algorithm}`;
    const before = tried.get(group) ?? 0;
    tried.set(group, before + 1);
    if (before >= MAX_KEYS_PER_TAG) return false;
    return (
      trust.keys.some((trusted) => isSameOctets(trusted, key.rdata)) || trust.ds.some((ds) => matchesDs(zone, key, ds))
    );
  });
}

/** Names the trusted records of a zone, as the beginning of a sentence. */
function tieOf(zone: Name, { anchored }: Trust): string {
  return anchored ? `The trust anchors of ${zone.text}` : `The DS records of ${zone.text}`;
}

function unsupported(zone: Name, trust: Trust): string {
  const kinds = new Set([
    ...trust.ds.map((ds) => `${algorithmName(ds.algorithm)} with digest type ${ds.digestType}`),
    ...trust.keys.map((rdata) => algorithmName(rdata[3] ?? 0)),
  ]);
  return `${tieOf(zone, trust)} all have unsupported kinds (${[...kinds].slice(0, 4).join(", ")}), so the zone counts as not signed`;
}

function noMatch(zone: Name, keys: readonly ZoneKey[], usable: Trust): string {
  const tags = (items: readonly number[]): string => [...new Set(items)].slice(0, 8).join(", ") || "none";
  const wanted = tags([...usable.ds.map((ds) => ds.keyTag), ...usable.keys.map((rdata) => readKey(rdata).tag)]);
  const kind = usable.anchored ? "anchor" : "DS";
  const published = tags(keys.map((key) => key.tag));
  return `${tieOf(zone, usable)} do not match the zone's keys: ${kind} key tags ${wanted}, DNSKEY key tags ${published}`;
}

function notSigned(zone: Name, set: Rrset, able: readonly ZoneKey[], reasons: readonly string[]): readonly string[] {
  const names = set.signatures.some((signature) => able.some((key) => key.tag === signature.keyTag));
  if (names || set.signatures.length === 0) return reasons;
  const tags = able.map((key) => key.tag).join(", ");
  return [`No trusted key (key tags ${tags}) signs the DNSKEY records of ${zone.text}`, ...reasons];
}
