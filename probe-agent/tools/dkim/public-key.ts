import { createPublicKey } from "node:crypto";
import type { FindingDraft } from "#probe-agent/analysis/text/findings.ts";

/** Public key of a DKIM record. */
export interface DkimPublicKey {
  readonly type: "rsa" | "ed25519";
  /** Size of the RSA modulus in bits; 256 for Ed25519. */
  readonly bits: number | null;
  /** SubjectPublicKeyInfo, the common form; bare PKCS #1, the form of RFC 6376; or 32 raw octets (RFC 8463). */
  readonly encoding: "spki" | "pkcs1" | "raw";
}

/** Reason why octets are not a key. */
type KeyFault = FindingDraft<"key-cut-short" | "key-unreadable" | "key-type-mismatch">;

const ED25519_OCTETS = 32;
/** Maximum number of octets of a key. An RSA key of 16384 bits is shorter. */
const MAX_OCTETS = 4096;

/** Parses key data. Returns the fault if the data is not a key. */
export function readDkimPublicKey(kind: "rsa" | "ed25519", octets: Uint8Array): DkimPublicKey | KeyFault {
  if (kind === "ed25519") {
    if (octets.length === ED25519_OCTETS) return { type: "ed25519", bits: 256, encoding: "raw" };
    return {
      id: "key-unreadable",
      message: `The key data p has ${octets.length} octets; an Ed25519 key has ${ED25519_OCTETS} octets.`,
    };
  }
  if (octets.length > MAX_OCTETS) {
    return { id: "key-unreadable", message: `The key data p has ${octets.length} octets, longer than any RSA key.` };
  }
  return readRsa(octets, "spki") ?? readRsa(octets, "pkcs1") ?? explainFault(octets);
}

/**
 * Returns the reason why octets are not an RSA key. The DER header has the length, so a cut key is recognized; some
 * control panels keep only the first 255 characters of a record.
 */
function explainFault(octets: Uint8Array): KeyFault {
  const [tag, first = 0, second = 0, third = 0] = octets;
  const [head, body] = first === 0x82 ? [4, second * 256 + third] : first === 0x81 ? [3, second] : [2, first];
  const isCut = tag === 0x30 && first <= 0x82 && head + body > octets.length;
  return isCut
    ? { id: "key-cut-short", message: `The key is cut short: ${octets.length} of ${head + body} bytes are published.` }
    : { id: "key-unreadable", message: `The key data p (${octets.length} octets) is not an RSA public key.` };
}

function readRsa(octets: Uint8Array, type: "spki" | "pkcs1"): DkimPublicKey | KeyFault | null {
  try {
    const key = createPublicKey({ key: Buffer.from(octets), format: "der", type });
    if (key.asymmetricKeyType !== "rsa") {
      const kind = key.asymmetricKeyType ?? "unknown";
      return { id: "key-type-mismatch", message: `The record says k=rsa, but the key type is ${kind}.` };
    }
    return { type: "rsa", bits: key.asymmetricKeyDetails?.modulusLength ?? null, encoding: type };
  } catch {
    return null;
  }
}
