import { describe, expect, it } from "vitest";
import { addressKey, isSameAddress, spellMailAddress, toMailAddress } from "#control-plane/core/mail-address.ts";

describe("a mail address", () => {
  it.each([
    ["ops@example.com", "ops@example.com"],
    ["On.Call+web@Example.COM", "on.call+web@example.com"],
    [" ops@example.com\n", "ops@example.com"],
    ["o'neil@mail.example.org", "o'neil@mail.example.org"],
    ["alarm@müller.example", "alarm@xn--mller-kva.example"],
    ["root@localhost", "root@localhost"],
    [`${"a".repeat(64)}@example.com`, `${"a".repeat(64)}@example.com`],
  ])("%s is usable, and has one normal form", (text, address) => expect(toMailAddress(text)).toBe(address));

  it("keeps its spelling for mail", () => {
    expect(spellMailAddress("Ann@Example.com")).toBe("Ann@Example.com");
    expect(spellMailAddress("ann@\u212Aim.example")).toBe("ann@kim.example");
    expect(spellMailAddress(" On.Call+web@MÜLLER.example ")).toBe("On.Call+web@xn--mller-kva.example");
  });

  it("is one in all its spellings, and other letters never become ASCII ones", () => {
    expect(isSameAddress("OPS@müller.example", "ops@XN--mller-kva.example")).toBe(true);
    expect(isSameAddress(null, "ops@example.com")).toBe(false);
    // In lower case, U+0130 is i or i and a dot above, and the sign of Kelvin is k.
    for (const [text, ascii] of [
      ["\u0130nfo@example.com", "info@example.com"],
      ["\u212Aim@example.com", "kim@example.com"],
    ] as const) {
      expect(toMailAddress(text)).toBeNull();
      expect(isSameAddress(text, ascii)).toBe(false);
      expect(addressKey(text)).toBe(text);
    }
    expect(addressKey("M\u00DCLLER@Example.com")).toBe("m\u00DCller@example.com");
    expect(addressKey("A".repeat(1_000_000))).toBe("a".repeat(255));
  });

  it.each([
    "",
    "nobody",
    "@example.com",
    "a@",
    "a@b@c",
    "a b@example.com",
    "a@exam ple.com",
    "a@example.com\r\nRCPT TO:<b@example.com>",
    "a@example.com\nBcc: b@example.com",
    "<a@example.com>",
    "a@example.com>",
    "A <a@example.com>",
    "a@example.com,b@example.com",
    '"a"@example.com',
    '"xclow3n@gmail.com x"@internal.domain',
    ".a@example.com",
    "a.@example.com",
    "a..b@example.com",
    "a@-example.com",
    "a@example..com",
    "a@[127.0.0.1]",
    "ü@example.com",
    "a@example.com\u202e",
    `${"a".repeat(65)}@example.com`,
    `a@${"b".repeat(64)}.example`,
    `a@${"b.".repeat(130)}com`,
    "a".repeat(1_000_000),
  ])("%.60j is not", (text) => expect([toMailAddress(text), spellMailAddress(text)]).toEqual([null, null]));
});
