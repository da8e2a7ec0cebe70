import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { describe, expect, it } from "vitest";
import { digestKey, isWellFormedKey, makeKey, randomBase62, shownPart } from "#control-plane/keys/format.ts";
import { systemRandom } from "#test/support/clock.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The checksum written the other way round: digits back to the number. */
function fromBase62(digits: string): number {
  return Array.from(digits).reduce((value, digit) => value * 62 + BASE62.indexOf(digit), 0);
}

describe("an API key", () => {
  it("is vtg_, 30 random characters and the CRC-32 of both in 6: 40 in all", () => {
    const key = makeKey(systemRandom);
    expect(key).toMatch(/^vtg_[0-9A-Za-z]{36}$/);
    expect(fromBase62(key.slice(-6))).toBe(crc32(key.slice(0, -6)));
    expect(isWellFormedKey(key)).toBe(true);
    expect(makeKey(systemRandom)).not.toBe(key);
  });

  it("is recognised as mistyped when any one character differs", () => {
    const key = makeKey(systemRandom);
    for (let at = 4; at < key.length; at += 1) {
      const other = key.at(at) === "x" ? "y" : "x";
      expect(isWellFormedKey(key.slice(0, at) + other + key.slice(at + 1))).toBe(false);
    }
  });

  it.each(["", "vtg_", "x".repeat(40), `${makeKey(systemRandom)} `, `\n${makeKey(systemRandom)}`, "vtg_".repeat(10)])(
    "is not anything else: %j",
    (word) => expect(isWellFormedKey(word)).toBe(false),
  );

  it("is known by its SHA-256 and shown by its first 8 characters", () => {
    const key = makeKey(systemRandom);
    expect(digestKey(key)).toBe(createHash("sha256").update(key).digest("hex"));
    expect(shownPart(key)).toBe(key.slice(0, 8));
  });

  it("draws every character equally often", () => {
    const counts = new Map<string, number>();
    for (const character of randomBase62(systemRandom, 62_000)) {
      counts.set(character, (counts.get(character) ?? 0) + 1);
    }
    expect(counts.size).toBe(62);
    // 1,000 expected of each; a modulo bias would put the first eight at 1,210.
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(180);
  });
});
