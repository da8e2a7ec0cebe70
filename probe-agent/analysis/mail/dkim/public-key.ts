import { createPublicKey } from "node:crypto";

/** The key of a record. */
export interface DkimPublicKey {
  readonly type: "rsa" | "ed25519";
  /** Of the modulus; 256 for Ed25519. */
  readonly bits: number | null;
  /** SubjectPublicKeyInfo as all publish it, bare PKCS #1 as RFC 6376 says, or 32 raw octets (RFC 8463). */
  readonly encoding: "spki" | "pkcs1" | "raw";
}

const ED25519_OCTETS = 32;
/** RSA moduli of 16384 bits are longer than any TXT answer is meant to be. */
const MAX_OCTETS = 4096;

/** Reads key data, or says what is wrong with it. */
export function readDkimPublicKey(kind: "rsa" | "ed25519", octets: Uint8Array): DkimPublicKey | string {
  if (kind === "ed25519") {
    if (octets.length === ED25519_OCTETS) return { type: "ed25519", bits: 256, encoding: "raw" };
    return `an Ed25519 key has ${ED25519_OCTETS} octets (RFC 8463 section 4.2); p has ${octets.length}`;
  }
  if (octets.length > MAX_OCTETS) return "p is longer than any RSA key";
  return readRsa(octets, "spki") ?? readRsa(octets, "pkcs1") ?? missing(octets);
}

/** DER says how long it is: a panel that keeps 255 characters of a record leaves a key without its end. */
function missing(octets: Uint8Array): string {
  const [tag, first = 0, second = 0, third = 0] = octets;
  const [head, body] = first === 0x82 ? [4, second * 256 + third] : first === 0x81 ? [3, second] : [2, first];
  const isCut = tag === 0x30 && first <= 0x82 && head + body > octets.length;
  return isCut ? `p is cut short: ${octets.length} of ${head + body} octets are there` : "p is no RSA key";
}

function readRsa(octets: Uint8Array, type: "spki" | "pkcs1"): DkimPublicKey | string | null {
  try {
    const key = createPublicKey({ key: Buffer.from(octets), format: "der", type });
    if (key.asymmetricKeyType !== "rsa") return `p is a key of another kind (${key.asymmetricKeyType ?? "unknown"})`;
    return { type: "rsa", bits: key.asymmetricKeyDetails?.modulusLength ?? null, encoding: type };
  } catch {
    return null;
  }
}
