import { isIP } from "node:net";
import { describe, expect, it } from "vitest";
import { checkTargetUrl, classifyAddress, createEgress, NO_ALLOW_LISTS } from "#shared/internet/egress.ts";

/** mulberry32: small and repeatable, so that a failing run can be repeated. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const PIECES = [
  [
    "http://",
    "https://",
    "http:",
    "HTTP:\\",
    "//",
    "/",
    "@",
    ":",
    "[",
    "]",
    "[::",
    "::ffff:",
    "%",
    "%31",
    "%00",
    "%25",
  ],
  [".", "..", "。", "．", "0x7f", "0177", "127", "1", "255", "256", "2130706433", "00000000177", "①", "１", "٣", "𝟏"],
  ["localhost", "local", "internal", "home.arpa", "example", "com", "xn--", "xn--a", "xn--\uD800", "ⓛ", "ß", "ſ", "İ"],
  ["\t", "\n", "\r", "\0", "\\", " ", "\u00ad", "\u200b", "\u202e", "\uFEFF", "\uD800", "\uDC00", "\u{10FFFF}", "́"],
  ["-", "_", "*", "a".repeat(64), "8080", "65536", "?", "#", "fe80", "2001:db8", "64:ff9b::", "%eth0", "/24", "e", "x"],
].flat();

describe("random input", () => {
  it("never throws, and every accepted host is public and in normal form", () => {
    const random = generator(20_261_121);
    const egress = createEgress(NO_ALLOW_LISTS);
    let passed = 0;
    for (let round = 0; round < 40_000; round += 1) {
      const length = 1 + Math.floor(random() * 7);
      const text = Array.from({ length }, () => PIECES[Math.floor(random() * PIECES.length)] ?? "").join("");
      for (const raw of [text, `http://${text}`, `https://${text}.example.com/`]) {
        const check = checkTargetUrl(raw);
        if (!check.ok) continue;
        passed += 1;
        const host = check.url.hostname.replace(/^\[|\]$/g, "");
        expect(raw).not.toMatch(/[\p{Cc}\\]/u);
        expect(check.url.href).not.toContain("@example");
        if (isIP(host) > 0) expect(classifyAddress(host), raw).toBe("public");
        else expect(host, raw).toMatch(/^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})+\.?$/);
        expect(host.replace(/\.$/, ""), raw).not.toMatch(/(^|\.)(localhost|local|internal|home\.arpa)$/);
      }
      for (const connects of [true, false]) {
        const check = egress.checkHost(text, { connects });
        if (!check.ok) continue;
        passed += 1;
        // Checking the normal form again does not change it.
        expect(egress.checkHost(check.host, { connects }), text).toEqual(check);
        expect(check.literal, text).toBe(isIP(check.host) > 0);
      }
      expect(classifyAddress(text)).toBe(egress.allowsAddress(text) ? "public" : "refused");
    }
    expect(passed).toBeGreaterThan(1000);
  });

  it("matches an address list exactly by the numbers of random addresses", () => {
    const random = generator(7);
    const open = createEgress({ targets: ["10.32.0.0/11"], names: [] });
    for (let round = 0; round < 20_000; round += 1) {
      const [a = 0, b = 0, c = 0, d = 0] = Array.from({ length: 4 }, () => Math.floor(random() * 256));
      const first = round % 2 === 0 ? 10 : a;
      const ip = `${first}.${b}.${c}.${d}`;
      const inside = first === 10 && b >= 32 && b < 64;
      expect(open.allowsAddress(ip), ip).toBe(inside || classifyAddress(ip) === "public");
      expect(classifyAddress(`64:ff9b::${ip}`), ip).toBe(classifyAddress(ip));
    }
  });

  it("is checked fast enough for every request, also if it is long and hostile", () => {
    const long = [
      "http://".repeat(9000),
      `http://${"a".repeat(60_000)}@`,
      `http:${"/".repeat(60_000)}x`,
      " ".repeat(65_000),
    ];
    for (const raw of long) expect(checkTargetUrl(raw).ok).toBe(false);
  });
});
