import { hash } from "node:crypto";
import type { Random } from "#shared/time/clock.ts";
import { randomBase62 } from "#control-plane/accounts/keys/format.ts";

/** Length of a token in base62 characters: 190 bits. */
const LENGTH = 32;
const FORM = /^[0-9A-Za-z]{32}$/;

/** Creates a token of a session or a one-time link. */
export function createToken(random: Random): string {
  return randomBase62(random, LENGTH);
}

/** Reports whether a word has the form of a token. */
export function isToken(word: string): boolean {
  return FORM.test(word);
}

/** Returns the SHA-256 of a token, in hex, under which it is stored. */
export function digestToken(token: string): string {
  return hash("sha256", token, "hex");
}

/**
 * Returns the value of the field `_csrf` in the forms of a session. It follows from the cookie's value, which no other site
 * can read.
 */
export function formToken(sessionToken: string): string {
  return hash("sha256", `form ${sessionToken}`, "base64url");
}
