import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync, type KeyObject } from "node:crypto";
import type { Random } from "#shared/time/clock.ts";

/** Encrypts secrets for the database: AES-256-GCM (NIST SP 800-38D) with a key derived from the master key. */
export interface Encryption {
  /**
   * Encrypts a secret. `purpose` says what and where it is, e.g. "authority.private_key"; `open` needs the same
   * purpose.
   */
  seal(secret: Uint8Array, purpose: string): Uint8Array;
  /** Decrypts a secret. Returns null if it was altered, or sealed for another purpose or with another key. */
  open(sealed: Uint8Array, purpose: string): Uint8Array | null;
  /** Returns 32 bytes that only a holder of the master key can compute from a text (HMAC-SHA-256, RFC 2104). */
  digest(text: string, purpose: string): Uint8Array;
}

// Version, nonce, secret, tag. Random 96-bit nonces are safe for 2^32 secrets with one key, far more than we store.
const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = "aes-256-gcm";

/** Creates the encryption for a master key of 32 bytes. */
export function createEncryption(masterKey: Uint8Array, random: Random): Encryption {
  const key = deriveKey(masterKey, "vantage encryption");
  const digestKey = deriveKey(masterKey, "vantage digests");
  return {
    digest: (text, purpose) => createHmac("sha256", digestKey).update(`${purpose}\0${text}`).digest(),
    seal(secret, purpose) {
      const nonce = random.bytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(purpose));
      return Buffer.concat([Uint8Array.of(VERSION), nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
    },
    open(sealed, purpose) {
      if (sealed[0] !== VERSION || sealed.length < 1 + NONCE_BYTES + TAG_BYTES) return null;
      const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
      const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(purpose)).setAuthTag(sealed.subarray(-TAG_BYTES));
      const text = decipher.update(sealed.subarray(1 + NONCE_BYTES, -TAG_BYTES));
      try {
        return Buffer.concat([text, decipher.final()]);
      } catch {
        return null; // final() throws only if the tag does not match
      }
    },
  };
}

/** Derives a key of 32 bytes. As an object it is prepared once: with its bytes, each cipher takes five times as long. */
function deriveKey(masterKey: Uint8Array, purpose: string): KeyObject {
  return createSecretKey(new Uint8Array(hkdfSync("sha256", masterKey, "", purpose, 32)));
}

/** Returns the value by which a database recognises its master key. It does not reveal the key (HMAC, RFC 2104). */
export function checkValueOf(masterKey: Uint8Array): Uint8Array {
  return createHmac("sha256", masterKey).update("vantage master key check").digest();
}
