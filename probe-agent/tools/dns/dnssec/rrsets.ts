import { nameField, parseName, type Name } from "#probe-agent/tools/dns/dnssec/names.ts";
import { canonicalRdata } from "#probe-agent/dns-codec/rdata/codec.ts";
import type { DnsRecord } from "#probe-agent/port/dns.ts";

const CLASS_IN = 1;

/** An RRSIG record (RFC 4034 section 3.1). Times are seconds since 1970 modulo 2^32. */
export interface Signature {
  readonly algorithm: number;
  readonly labels: number;
  readonly originalTtl: number;
  readonly expiration: number;
  readonly inception: number;
  readonly keyTag: number;
  readonly signer: Name;
  readonly signature: Uint8Array;
  /**
   * RDATA without the signature itself, with the signer's name in lower case. This is the first part of the signed
   * data.
   */
  readonly head: Uint8Array;
}

/** Records of one owner and type, with the signatures over them. */
export interface Rrset {
  readonly owner: Name;
  readonly type: string;
  readonly records: readonly DnsRecord[];
  readonly signatures: readonly Signature[];
}

/**
 * Groups a section's records of class IN into RRsets, in order of appearance. Drops signatures over records that are
 * not in the section.
 */
export function groupRrsets(records: readonly DnsRecord[]): readonly Rrset[] {
  const sets = new Map<string, { owner: Name; type: string; records: DnsRecord[]; signatures: Signature[] }>();
  const signatures: { key: string; signature: Signature }[] = [];
  for (const record of records) {
    const owner = record.class === CLASS_IN ? parseName(record.name) : null;
    if (owner === null) continue;
    if (record.type === "RRSIG") {
      const signature = readSignature(record);
      if (signature !== null)
        signatures.push({ key: `${owner.text} ${String(record.typed["type_covered"])}`, signature });
      continue;
    }
    const key = `${owner.text} ${record.type}`;
    const set = sets.get(key);
    if (set === undefined) sets.set(key, { owner, type: record.type, records: [record], signatures: [] });
    else set.records.push(record);
  }
  for (const { key, signature } of signatures) sets.get(key)?.signatures.push(signature);
  return [...sets.values()];
}

function readSignature({ raw, typed }: DnsRecord): Signature | null {
  const signer = nameField(typed, "signer_name");
  if (signer === null) return null;
  const signature = Buffer.from(String(typed["signature"]), "base64");
  const canonical = canonicalRdata("RRSIG", raw);
  return {
    algorithm: Number(typed["algorithm"]),
    labels: Number(typed["labels"]),
    originalTtl: Number(typed["original_ttl"]),
    expiration: Number(typed["expiration"]),
    inception: Number(typed["inception"]),
    keyTag: Number(typed["key_tag"]),
    signer,
    signature,
    head: canonical.subarray(0, canonical.length - signature.length),
  };
}

/** Finds the RRset of an owner and type. Undefined if there is none. */
export function findRrset(sets: readonly Rrset[], owner: Name, type: string): Rrset | undefined {
  return sets.find((set) => set.type === type && set.owner.text === owner.text);
}

/**
 * Returns the octets that an RRSIG signs (RFC 4034 sections 3.1.8.1 and 6): the signature's head, then every record
 * once, in canonical form and order, with `owner` and the original TTL. `owner` is the wildcard's name if the answer
 * was expanded from a wildcard.
 */
export function signedData(set: Rrset, signature: Signature, owner: Name): Uint8Array {
  const rdata = set.records.map(({ raw }) => Buffer.from(canonicalRdata(set.type, raw)));
  const sorted = rdata
    .toSorted((one, other) => Buffer.compare(one, other))
    .filter((one, index, all) => index === 0 || !one.equals(all[index - 1] ?? Buffer.of()));
  // The type comes from the signature's head, the class is IN, and the TTL is the original TTL (section 3.1.4).
  const fixed = Buffer.concat([
    owner.wire,
    signature.head.subarray(0, 2),
    Buffer.of(0, CLASS_IN),
    signature.head.subarray(4, 8),
  ]);
  return Buffer.concat([
    signature.head,
    ...sorted.flatMap((one) => [fixed, Buffer.of(one.length >>> 8, one.length & 0xff), one]),
  ]);
}
