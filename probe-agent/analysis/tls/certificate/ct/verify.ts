import { createHash, createPublicKey, verify, type KeyObject } from "node:crypto";
import {
  childrenOf,
  expectTag,
  MalformedDer,
  oidText,
  sequenceOf,
  TAG,
  type Der,
} from "#probe-agent/analysis/tls/certificate/der.ts";
import { encodeDer, encodeSequence } from "#probe-agent/analysis/tls/certificate/der-encode.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { TIMESTAMPS_EXTENSION, type SignedTimestamp } from "#probe-agent/analysis/tls/certificate/ct/timestamps.ts";

/**
 * The entry that a log signed (RFC 6962 section 3.2). Type 0 is the certificate itself. Type 1 is the precertificate
 * with the hash of its issuer's key.
 */
export type LogEntry = { readonly type: 0 | 1; readonly value: Uint8Array };

const SHA256 = 4;
const RSA = 1;
const ECDSA = 3;
const EXTENSIONS = 0xa3;

/** Returns the entry for timestamps from a TLS extension or an OCSP response. Throws MalformedDer. */
export function certificateEntry({ der }: Certificate): LogEntry {
  return { type: 0, value: vector24(der) };
}

/**
 * Returns the entry for timestamps inside the certificate. The precertificate without its poison extension equals the
 * certificate without its list of timestamps (RFC 6962 section 3.2). Throws MalformedDer.
 */
export function precertificateEntry(certificate: Certificate, issuer: Certificate): LogEntry {
  const [tbs] = sequenceOf(certificate.der);
  const fields = childrenOf(expectTag(tbs, TAG.sequence).contents);
  const kept = fields.flatMap((field) => (field.tag === EXTENSIONS ? withoutList(field) : [field.whole]));
  const issuerKeyHash = createHash("sha256").update(issuer.spki).digest();
  return { type: 1, value: Buffer.concat([issuerKeyHash, vector24(encodeSequence(...kept))]) };
}

function withoutList(wrapped: Der): Uint8Array[] {
  const others = sequenceOf(wrapped.contents).filter((extension) => {
    const [oid] = childrenOf(expectTag(extension, TAG.sequence).contents);
    return oidText(expectTag(oid, TAG.oid).contents) !== TIMESTAMPS_EXTENSION;
  });
  if (others.length === 0) return [];
  return [encodeDer(EXTENSIONS, encodeSequence(...others.map(({ whole }) => whole)))];
}

/** Reports whether the log with this key (DER SubjectPublicKeyInfo) signed the timestamp for the entry. */
export function isTimestampOf(timestamp: SignedTimestamp, entry: LogEntry, logKey: Uint8Array): boolean {
  const key = readKey(logKey);
  if (key === null || timestamp.hash !== SHA256) return false;
  const kind = timestamp.scheme === ECDSA ? "ec" : timestamp.scheme === RSA ? "rsa" : null;
  if (key.asymmetricKeyType !== kind) return false;
  const head = Buffer.alloc(12);
  head.writeBigUInt64BE(timestamp.timestamp, 2);
  head[11] = entry.type;
  const signed = Buffer.concat([head, entry.value, timestamp.extensions]);
  try {
    return verify("sha256", signed, key, timestamp.signature);
  } catch {
    return false;
  }
}

function readKey(spki: Uint8Array): KeyObject | null {
  try {
    return createPublicKey({ key: Buffer.from(spki), format: "der", type: "spki" });
  } catch {
    return null;
  }
}

/** Encodes a value with a length field of three octets. */
function vector24(value: Uint8Array): Uint8Array {
  const { length } = value;
  if (length > 0xff_ff_ff) throw new MalformedDer("certificate");
  return Buffer.concat([Uint8Array.of(length >> 16, (length >> 8) & 0xff, length & 0xff), value]);
}
