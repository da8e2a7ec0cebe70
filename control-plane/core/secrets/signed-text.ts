import { timingSafeEqual } from "node:crypto";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";

/** 192 bits. */
const DIGEST_BYTES = 24;

/**
 * Signs a text for a link: 32 characters of base64url that only a holder of the master key can compute, so that nobody
 * else can make a link and the database need not store any. `purpose` keeps links of one kind from being used as another.
 */
export function signText(encryption: Pick<Encryption, "digest">, text: string, purpose: string): string {
  return Buffer.from(encryption.digest(text, purpose).subarray(0, DIGEST_BYTES)).toString("base64url");
}

/** Reports whether a signature was made by signText of this text and purpose. It takes as long for every wrong one. */
export function isSigned(
  encryption: Pick<Encryption, "digest">,
  text: string,
  { purpose, signature }: { readonly purpose: string; readonly signature: string },
): boolean {
  const expected = Buffer.from(signText(encryption, text, purpose));
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
