import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync } from "node:crypto";
import type { Random } from "#shared/time/clock.ts";
import type { SealedPurpose } from "#control-plane/core/secrets/sealed.ts";

/** Encrypts secrets for the database: AES-256-GCM (NIST SP 800-38D) with a key derived from the master key. */
export interface Encryption {
  /**
   * Encrypts a secret. `purpose` says what and where it is, e.g. "authority.private_key"; `open` needs the same
   * purpose.
   */
  seal(secret: Uint8Array, purpose: SealedPurpose): Uint8Array;
  /** Decrypts a secret. Returns null if it was altered, or sealed for another purpose or with another key. */
  open(sealed: Uint8Array, purpose: SealedPurpose): Uint8Array | null;
  /** Returns 32 bytes that only a holder of the digest key can compute from a text (HMAC-SHA-256, RFC 2104). */
  digest(text: string, purpose: string): Uint8Array;
}

// Version, nonce, secret, tag. Random 96-bit nonces are safe for 2^32 secrets with one key, far more than we store.
const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = "aes-256-gcm";

/** Creates the encryption for a master key of 32 bytes. `digestKey`: that of an earlier master key, which stays in use. */
export function createEncryption(
  masterKey: Uint8Array,
  random: Random,
  digestKey: Uint8Array = digestKeyOf(masterKey),
): Encryption {
  // As objects they are prepared once: with their bytes, each cipher takes five times as long.
  const key = createSecretKey(deriveKey(masterKey, "vantage encryption"));
  const digests = createSecretKey(digestKey);
  return {
    digest: (text, purpose) => createHmac("sha256", digests).update(`${purpose}\0${text}`).digest(),
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

/** Returns the key with which a master key signs links and looks addresses up. */
export function digestKeyOf(masterKey: Uint8Array): Uint8Array {
  return deriveKey(masterKey, "vantage digests");
}

function deriveKey(masterKey: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", masterKey, "", purpose, 32));
}
