/** Format of an algorithm's keys and signatures. */
export type KeyKind = "rsa" | "p256" | "p384" | "ed25519" | "ed448";

/** A supported DNSSEC signing algorithm. */
export interface Algorithm {
  readonly name: string;
  readonly kind: KeyKind;
  /** Hash name for node:crypto. Null if the algorithm includes its hash. */
  readonly hash: "sha1" | "sha256" | "sha384" | "sha512" | null;
  /** Whether RFC 8624 section 3.1 (or RFC 9905 for SHA-1) says not to sign with this algorithm any more. */
  readonly deprecated: boolean;
}

function algorithm(name: string, kind: KeyKind, hash: Algorithm["hash"], deprecated = false): Algorithm {
  return { name, kind, hash, deprecated };
}

// Algorithms that are MUST or RECOMMENDED in RFC 8624 section 3.1, column "DNSSEC validation". DSA, RSAMD5 and GOST are
// not.
const SUPPORTED: ReadonlyMap<number, Algorithm> = new Map([
  [5, algorithm("RSASHA1", "rsa", "sha1", true)],
  [7, algorithm("RSASHA1-NSEC3-SHA1", "rsa", "sha1", true)],
  [8, algorithm("RSASHA256", "rsa", "sha256")],
  [10, algorithm("RSASHA512", "rsa", "sha512")],
  [13, algorithm("ECDSAP256SHA256", "p256", "sha256")],
  [14, algorithm("ECDSAP384SHA384", "p384", "sha384")],
  [15, algorithm("ED25519", "ed25519", null)],
  [16, algorithm("ED448", "ed448", null)],
]);

// IANA "DNS Security Algorithm Numbers": algorithms that have a name but are not supported here.
const OTHER_NAMES: ReadonlyMap<number, string> = new Map([
  [1, "RSAMD5"],
  [3, "DSA"],
  [6, "DSA-NSEC3-SHA1"],
  [12, "ECC-GOST"],
  [17, "SM2SM3"],
  [23, "ECC-GOST12"],
  [252, "INDIRECT"],
  [253, "PRIVATEDNS"],
  [254, "PRIVATEOID"],
]);

/** Returns the algorithm with this number, or null if we do not validate with it. */
export function findAlgorithm(number: number): Algorithm | null {
  return SUPPORTED.get(number) ?? null;
}

/** Returns IANA's mnemonic of an algorithm number, or "algorithm n" if it has none. */
export function algorithmName(number: number): string {
  return SUPPORTED.get(number)?.name ?? OTHER_NAMES.get(number) ?? `algorithm ${number}`;
}

/** Returns the hash of a DS digest type (RFC 8624 section 3.3) under its node:crypto name, or null if unsupported. */
export function digestHash(digestType: number): "sha1" | "sha256" | "sha384" | null {
  if (digestType === 1) return "sha1";
  if (digestType === 2) return "sha256";
  return digestType === 4 ? "sha384" : null;
}
