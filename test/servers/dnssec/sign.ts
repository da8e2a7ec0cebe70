import { createHash, generateKeyPairSync, sign as signOctets, type KeyObject } from "node:crypto";
import type { DnsRecord } from "#probe-agent/port/dns.ts";
import { fromRdata, makeDnsRecord } from "#test/servers/dnssec/record.ts";
import { before, labelsOf, nsec3Label, recordsOf, within, wireName, type Zone } from "#test/servers/dnssec/zone.ts";

// A signer of our own, written apart from the validator: canonical form comes from lower-cased presentation form here
// and from octets there, so that a fault of one is seen by the other (and both by BIND's fixtures).

/** One key with its DNSKEY. */
export interface SigningKey {
  readonly algorithm: number;
  readonly flags: number;
  readonly privateKey: KeyObject;
  readonly record: DnsRecord;
  readonly tag: number;
}

const CURVES = { 13: "P-256", 14: "P-384", 15: "ed25519", 16: "ed448" } as const;

/** Makes a key for a zone. Algorithms 5, 7, 8, 10 (RSA, 1024 bits), 13, 14, 15, 16; `shown` is the number published. */
export function makeKey(zone: string, algorithm: number, flags = 257, shown = algorithm): SigningKey {
  const { privateKey, octets } = generate(algorithm);
  const rdata = Buffer.concat([Buffer.of(flags >>> 8, flags & 0xff, 3, shown), octets]);
  const record = fromRdata(zone, "DNSKEY", rdata);
  return { algorithm: shown, flags, privateKey, record, tag: Number(record.typed["key_tag"]) };
}

function generate(algorithm: number): { privateKey: KeyObject; octets: Buffer } {
  if (algorithm === 13 || algorithm === 14) {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: CURVES[algorithm] });
    const { x = "", y = "" } = publicKey.export({ format: "jwk" });
    return { privateKey, octets: Buffer.concat([Buffer.from(x, "base64url"), Buffer.from(y, "base64url")]) };
  }
  if (algorithm === 15 || algorithm === 16) {
    const { privateKey, publicKey } = algorithm === 15 ? generateKeyPairSync("ed25519") : generateKeyPairSync("ed448");
    return { privateKey, octets: Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url") };
  }
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 1024 });
  const { n = "", e = "" } = publicKey.export({ format: "jwk" });
  const exponent = Buffer.from(e, "base64url");
  return { privateKey, octets: Buffer.concat([Buffer.of(exponent.length), exponent, Buffer.from(n, "base64url")]) };
}

const HASHES: Readonly<Record<number, string | null>> = {
  5: "sha1",
  7: "sha1",
  8: "sha256",
  10: "sha512",
  13: "sha256",
  14: "sha384",
};

/** What a signature says; the rest follows from the records. */
export interface SignatureFields {
  readonly signer: string;
  readonly inception?: string;
  readonly expiration?: string;
  readonly labels?: number;
  readonly originalTtl?: number;
  readonly keyTag?: number;
  readonly typeCovered?: string;
}

/** The RRSIG of an RRset by a key (RFC 4034 section 3.1.8.1); fields may lie. */
export function signRrset(records: readonly DnsRecord[], key: SigningKey, fields: SignatureFields): DnsRecord {
  const [first] = records;
  if (first === undefined) throw new Error("nothing to sign");
  const labels = labelsOf(first.name).filter((label) => label !== "*").length;
  const ttl = fields.originalTtl ?? first.ttl;
  const { inception = "20250101000000", expiration = "20450101000000" } = fields;
  const words = `${fields.typeCovered ?? first.type} ${key.algorithm} ${fields.labels ?? labels} ${ttl} ${expiration} ${inception} ${fields.keyTag ?? key.tag} ${absolute(fields.signer.toLowerCase())}`;
  const head = makeDnsRecord(first.name, "RRSIG", `${words} AAAA`).raw.subarray(0, -3);
  const type = head.subarray(0, 2);
  const rdata = records.map((record) => canonical(record)).toSorted((one, other) => Buffer.compare(one, other));
  const signed = Buffer.concat([
    head,
    ...rdata.flatMap((one) => [
      wireName(first.name),
      type,
      Buffer.of(0, 1),
      u32(ttl),
      Buffer.of(one.length >>> 8, one.length & 0xff),
      one,
    ]),
  ]);
  const signature = signOctets(HASHES[key.algorithm] ?? null, signed, {
    key: key.privateKey,
    dsaEncoding: "ieee-p1363",
  });
  return makeDnsRecord(first.name, "RRSIG", `${words} ${signature.toString("base64")}`, first.ttl);
}

const NAMES_INSIDE = new Set(["NS", "CNAME", "DNAME", "PTR", "SOA", "MX", "SRV"]);

function canonical({ name, type, data, raw }: DnsRecord): Buffer {
  return Buffer.from(NAMES_INSIDE.has(type) ? makeDnsRecord(name, type, data.toLowerCase()).raw : raw);
}

function u32(value: number): Buffer {
  const octets = Buffer.alloc(4);
  octets.writeUInt32BE(value);
  return octets;
}

function absolute(name: string): string {
  return name === "." ? name : `${name}.`;
}

/** How to sign a zone. */
export interface ZonePlan {
  readonly apex: string;
  /** Records in zone-file form, SOA and NS included. */
  readonly text: string;
  readonly keys: readonly SigningKey[];
  /** Default NSEC. */
  readonly nsec3?: { readonly iterations: number; readonly salt: string; readonly optOut: boolean };
  readonly inception?: string;
  readonly expiration?: string;
}

/** Signs a zone: every key with flag SEP signs the keys, every other one (or all, where there is none) the rest. */
export function signZone(plan: ZonePlan): Zone {
  const { apex, keys } = plan;
  const plain = [...recordsOf(plan.text), ...keys.map(({ record }) => record)];
  const cuts = plain.filter(({ name, type }) => type === "NS" && name.toLowerCase() !== apex).map(({ name }) => name);
  const own = plain.filter(({ name, type }) => {
    const cut = cuts.find((above) => within(name, above));
    return cut === undefined || (cut.toLowerCase() === name.toLowerCase() && (type === "NS" || type === "DS"));
  });
  const chain = plan.nsec3 === undefined ? nsecChain(apex, own, cuts) : nsec3Chain(apex, own, cuts, plan.nsec3);
  const zoneSigners = keys.filter(({ flags }) => (flags & 1) === 0);
  const sets = Map.groupBy([...own, ...chain], ({ name, type }) => `${name.toLowerCase()} ${type}`);
  const signatures = [...sets.values()].flatMap((set) => {
    const [first] = set;
    if (first === undefined || (first.type === "NS" && first.name.toLowerCase() !== apex)) return [];
    const signers = first.type === "DNSKEY" ? keys.filter(({ flags }) => (flags & 1) === 1) : zoneSigners;
    const { inception, expiration } = plan;
    const fields = {
      signer: apex,
      ...(inception === undefined ? {} : { inception }),
      ...(expiration === undefined ? {} : { expiration }),
    };
    return (signers.length === 0 ? keys : signers).map((key) => signRrset(set, key, fields));
  });
  return { apex, records: [...plain, ...chain, ...signatures] };
}

function typesAt(own: readonly DnsRecord[], name: string, cuts: readonly string[], more: readonly string[]): string {
  const types = new Set(own.filter((record) => record.name.toLowerCase() === name).map(({ type }) => type));
  const signed = types.size > 0 && !(cuts.some((cut) => cut.toLowerCase() === name) && !types.has("DS"));
  return [...types, ...(signed ? ["RRSIG"] : []), ...more].join(" ");
}

function nsecChain(apex: string, own: readonly DnsRecord[], cuts: readonly string[]): DnsRecord[] {
  const owners = [...new Set(own.map(({ name }) => name.toLowerCase()))].toSorted((one, other) =>
    before(one, other) ? -1 : 1,
  );
  return owners.map((owner, index) =>
    makeDnsRecord(
      owner,
      "NSEC",
      `${absolute(owners[index + 1] ?? apex)} ${typesAt(own, owner, cuts, ["RRSIG", "NSEC"])}`,
      300,
    ),
  );
}

function nsec3Chain(
  apex: string,
  own: readonly DnsRecord[],
  cuts: readonly string[],
  { iterations, salt, optOut }: NonNullable<ZonePlan["nsec3"]>,
): DnsRecord[] {
  const secure = (name: string): boolean =>
    own.some(({ name: owner, type }) => type === "DS" && owner.toLowerCase() === name);
  const unsigned = (name: string): boolean => cuts.some((cut) => cut.toLowerCase() === name) && !secure(name);
  const names = new Set<string>();
  for (const { name } of own) {
    if (optOut && unsigned(name.toLowerCase())) continue;
    // Empty non-terminals have records of their own.
    for (
      let owner = name.toLowerCase();
      within(owner, apex) && !names.has(owner);
      owner = owner.replace(/^[^.]*\.?/, "") || "."
    )
      names.add(owner);
  }
  const hashed = [...names]
    .map((name) => ({ name, hash: nsec3Label(name, iterations, salt) }))
    .toSorted((one, other) => (one.hash < other.hash ? -1 : 1));
  const suffix = apex === "." ? "" : `.${apex}`;
  return hashed.map(({ name, hash }, index) => {
    const next = hashed[(index + 1) % hashed.length]?.hash ?? hash;
    const data = `1 ${optOut ? 1 : 0} ${iterations} ${salt === "" ? "-" : salt} ${next} ${typesAt(own, name, cuts, [])}`;
    return makeDnsRecord(`${hash}${suffix}`, "NSEC3", data.trimEnd(), 300);
  });
}

/** DS record text of a key, by digest type 1, 2 or 4. */
export function dsText(zone: string, key: SigningKey, digestType = 2): string {
  const hash = { 1: "sha1", 2: "sha256", 4: "sha384" }[digestType] ?? "sha256";
  const digest = createHash(hash).update(wireName(zone)).update(key.record.raw).digest("hex");
  return `${absolute(zone)} 3600 IN DS ${key.tag} ${key.algorithm} ${digestType} ${digest}`;
}
