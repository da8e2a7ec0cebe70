import { createHmac } from "node:crypto";

/** Returns the value by which a database recognises its master key. It does not reveal the key (HMAC, RFC 2104). */
export function checkValueOf(masterKey: Uint8Array): Uint8Array {
  return createHmac("sha256", masterKey).update("vantage master key check").digest();
}
