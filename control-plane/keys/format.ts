import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Random } from "#shared/clock.ts";

const PREFIX = "vtg_";
const BODY_LENGTH = 30;
const CHECK_LENGTH = 6;
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const KEY_FORM = /^vtg_[0-9A-Za-z]{36}$/;
/** Characters of a key that are kept to show: the prefix and the first four that differ. */
const SHOWN_LENGTH = 8;

/** A new API key: `vtg_`, 30 random base62 characters, 6 of checksum. Shown once, stored nowhere. */
export function makeKey(random: Random): string {
  const head = PREFIX + randomBase62(random, BODY_LENGTH);
  return head + checksum(head);
}

/** Whether a word has the form of a key and its checksum fits: all that can be known without asking. */
export function isWellFormedKey(word: string): boolean {
  if (!KEY_FORM.test(word)) return false;
  const head = word.slice(0, -CHECK_LENGTH);
  return word.slice(-CHECK_LENGTH) === checksum(head);
}

/** SHA-256 of a key in hex: what stands in the database and in memory instead of it. */
export function digestKey(key: string): string {
  return hash("sha256", key, "hex");
}

/** The first 8 characters of a key, to tell keys apart by. */
export function shownPart(key: string): string {
  return key.slice(0, SHOWN_LENGTH);
}

/** `length` evenly distributed base62 characters: 5.95 bits each. */
export function randomBase62(random: Random, length: number): string {
  let word = "";
  while (word.length < length) {
    for (const byte of random.bytes(length)) {
      // 248 = 4 x 62: the bytes above it would make the first characters likelier.
      if (byte < 248 && word.length < length) word += BASE62[byte % 62];
    }
  }
  return word;
}

/** CRC-32 (ISO 3309, as in zlib) in base62, most significant digit first, padded with zeros. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  while (digits.length < CHECK_LENGTH) {
    digits = (BASE62[rest % 62] ?? "") + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
