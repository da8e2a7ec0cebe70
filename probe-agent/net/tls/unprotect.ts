import { createDecipheriv, createHmac, type CipherGCMTypes } from "node:crypto";
import { CONTENT, type TlsRecord } from "#probe-agent/net/tls/records.ts";

/** Content type and content of a decrypted record. */
export interface Unprotected {
  readonly type: number;
  readonly content: Uint8Array;
}

interface Suite {
  readonly cipher: CipherGCMTypes | "chacha20-poly1305";
  readonly hash: "sha256" | "sha384";
  readonly keyBytes: number;
}

/** The TLS 1.3 suites that OpenSSL offers by default (RFC 8446 appendix B.4). */
const SUITES: Readonly<Record<number, Suite>> = {
  0x1301: { cipher: "aes-128-gcm", hash: "sha256", keyBytes: 16 },
  0x1302: { cipher: "aes-256-gcm", hash: "sha384", keyBytes: 32 },
  0x1303: { cipher: "chacha20-poly1305", hash: "sha256", keyBytes: 32 },
};
const TAG_BYTES = 16;
const IV_BYTES = 12;

/**
 * Creates a function that decrypts the records of a TLS 1.3 server's handshake flight in order, with the server's
 * handshake traffic secret (RFC 8446 sections 5.2, 5.3, 7.3). It returns null if a record cannot be decrypted, because
 * a later epoch has begun.
 */
export function createOpener(suiteNumber: number, secret: Uint8Array): (record: TlsRecord) => Unprotected | null {
  const suite = SUITES[suiteNumber];
  if (!suite) return () => null;
  const key = expandLabel(suite.hash, secret, "key", suite.keyBytes);
  const iv = expandLabel(suite.hash, secret, "iv", IV_BYTES);
  let sequence = 0;
  return ({ header, fragment }) => {
    if (fragment.length <= TAG_BYTES) return null;
    const nonce = Buffer.from(iv);
    nonce.writeUInt32BE((nonce.readUInt32BE(IV_BYTES - 4) ^ sequence) >>> 0, IV_BYTES - 4);
    const split = fragment.length - TAG_BYTES;
    const decipher = createDecipheriv(suite.cipher as CipherGCMTypes, key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(header);
    decipher.setAuthTag(fragment.subarray(split));
    try {
      const inner = Buffer.concat([decipher.update(fragment.subarray(0, split)), decipher.final()]);
      sequence += 1;
      return withoutPadding(inner);
    } catch {
      return null;
    }
  };
}

/** Parses a TLSInnerPlaintext: content, type, then zeros as padding (RFC 8446 section 5.2). */
function withoutPadding(inner: Uint8Array): Unprotected {
  let end = inner.length - 1;
  while (end > 0 && inner[end] === 0) end -= 1;
  return { type: inner[end] ?? CONTENT.alert, content: inner.subarray(0, Math.max(end, 0)) };
}

/** Returns the hash of a suite, or null if the suite is unknown. */
export function hashOfSuite(suiteNumber: number): "sha256" | "sha384" | null {
  return SUITES[suiteNumber]?.hash ?? null;
}

/**
 * Computes HKDF-Expand-Label for outputs no longer than the hash (RFC 8446 section 7.1). The default context is empty.
 */
export function expandLabel(
  hash: string,
  secret: Uint8Array,
  label: string,
  length: number,
  context: Uint8Array = new Uint8Array(),
): Uint8Array {
  const name = Buffer.from(`tls13 ${label}`, "ascii");
  const info = Buffer.concat([Buffer.from([0, length, name.length]), name, Buffer.from([context.length]), context]);
  return createHmac(hash, secret)
    .update(info)
    .update(Buffer.from([1]))
    .digest()
    .subarray(0, length);
}
