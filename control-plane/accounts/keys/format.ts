import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Random } from "#shared/time/clock.ts";

const PREFIX = "vtg_";
const BODY_LENGTH = 30;
const CHECK_LENGTH = 6;
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const KEY_FORM = /^vtg_[0-9A-Za-z]{36}$/;
/** Length of the displayed part of a key: `vtg_` and four random characters. */
const PREFIX_LENGTH = 8;

/** Creates an API key: `vtg_`, 30 random base62 characters, 6 of checksum. It is shown once and never stored. */
export function createKey(random: Random): string {
  const head = PREFIX + randomBase62(random, BODY_LENGTH);
  return head + checksum(head);
}

/** Reports whether a word has the form and the checksum of a key: all that can be checked without the database. */
export function isWellFormedKey(word: string): boolean {
  if (!KEY_FORM.test(word)) return false;
  const head = word.slice(0, -CHECK_LENGTH);
  return word.slice(-CHECK_LENGTH) === checksum(head);
}

/** Returns the SHA-256 of a key in hex. The database and the memory hold this digest instead of the key. */
export function digestKey(key: string): string {
  return hash("sha256", key, "hex");
}

/** Returns the first 8 characters of a key, which lists show to distinguish keys. */
export function keyPrefix(key: string): string {
  return key.slice(0, PREFIX_LENGTH);
}

/** Returns `length` evenly distributed base62 characters, 5.95 bits each. */
export function randomBase62(random: Random, length: number): string {
  let word = "";
  while (word.length < length) {
    for (const byte of random.bytes(length)) {
      // 248 = 4 x 62: bytes from 248 would make the first characters of the alphabet more likely.
      if (byte < 248 && word.length < length) word += BASE62[byte % 62];
    }
  }
  return word;
}

/** Returns the CRC-32 (ISO 3309, as in zlib) in base62, most significant digit first, padded with zeros. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  while (digits.length < CHECK_LENGTH) {
    digits = (BASE62[rest % 62] ?? "") + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
