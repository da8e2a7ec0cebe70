import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { describe, expect, it } from "vitest";
import { digestKey, isWellFormedKey, createKey, randomBase62, keyPrefix } from "#control-plane/accounts/keys/format.ts";
import { systemRandom } from "#test/support/clock.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Converts the base62 digits of a checksum back to its number. */
function fromBase62(digits: string): number {
  return Array.from(digits).reduce((value, digit) => value * 62 + BASE62.indexOf(digit), 0);
}

describe("an API key", () => {
  it("consists of vtg_, 30 random characters and their CRC-32 in 6 characters: 40 in total", () => {
    const key = createKey(systemRandom);
    expect(key).toMatch(/^vtg_[0-9A-Za-z]{36}$/);
    expect(fromBase62(key.slice(-6))).toBe(crc32(key.slice(0, -6)));
    expect(isWellFormedKey(key)).toBe(true);
    expect(createKey(systemRandom)).not.toBe(key);
  });

  it("is recognised as mistyped if any single character differs", () => {
    const key = createKey(systemRandom);
    for (let at = 4; at < key.length; at += 1) {
      const other = key.at(at) === "x" ? "y" : "x";
      expect(isWellFormedKey(key.slice(0, at) + other + key.slice(at + 1))).toBe(false);
    }
  });

  it.each([
    "",
    "vtg_",
    "x".repeat(40),
    `${createKey(systemRandom)} `,
    `\n${createKey(systemRandom)}`,
    "vtg_".repeat(10),
  ])("is not recognised in %j", (word) => expect(isWellFormedKey(word)).toBe(false));

  it("is stored as its SHA-256 and displayed as its first 8 characters", () => {
    const key = createKey(systemRandom);
    expect(digestKey(key)).toBe(createHash("sha256").update(key).digest("hex"));
    expect(keyPrefix(key)).toBe(key.slice(0, 8));
  });

  it("draws every character equally often", () => {
    const counts = new Map<string, number>();
    for (const character of randomBase62(systemRandom, 62_000)) {
      counts.set(character, (counts.get(character) ?? 0) + 1);
    }
    expect(counts.size).toBe(62);
    // 1,000 of each are expected; with a modulo bias the first eight would appear 1,210 times.
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(180);
  });
});
