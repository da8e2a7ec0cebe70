import { describe, expect, it } from "vitest";
import { toMailAddress } from "#control-plane/mail-address.ts";

describe("a mail address", () => {
  it.each([
    ["ops@example.com", "ops@example.com"],
    ["On.Call+web@Example.COM", "On.Call+web@example.com"],
    ["o'neil@mail.example.org", "o'neil@mail.example.org"],
    ["alarm@müller.example", "alarm@xn--mller-kva.example"],
    ["root@localhost", "root@localhost"],
    [`${"a".repeat(64)}@example.com`, `${"a".repeat(64)}@example.com`],
  ])("%s is usable", (text, address) => expect(toMailAddress(text)).toBe(address));

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
  ])("%.60j is not", (text) => expect(toMailAddress(text)).toBeNull());
});
