import { describe, expect, it } from "vitest";
import { createEgress, NO_ALLOW_LISTS } from "#shared/internet/egress.ts";

const egress = createEgress(NO_ALLOW_LISTS);
const connect = (raw: string) => egress.checkHost(raw, { connects: true });
const lookUp = (raw: string) => egress.checkHost(raw, { connects: false });

describe("a host that is connected to", () => {
  it.each([
    ["example.com", "example.com"],
    ["EXAMPLE.com.", "example.com"],
    ["Bücher.example", "xn--bcher-kva.example"],
    ["xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["straße.de", "xn--strae-oqa.de"],
    ["例え。テスト", "xn--r8jz45g.xn--zckzah"],
    ["_sip.example.com", "_sip.example.com"],
  ])("%s becomes %s", (raw, host) => {
    expect(connect(raw)).toEqual({ ok: true, host, literal: false });
    expect(lookUp(raw)).toEqual({ ok: true, host, literal: false });
  });

  it.each([
    ["8.8.8.8", "8.8.8.8"],
    ["8.8.8.8.", "8.8.8.8"],
    ["0x08080808", "8.8.8.8"],
    ["2606:4700:0:0:0:0:0:1111", "2606:4700::1111"],
    ["[2606:4700::1111]", "2606:4700::1111"],
    ["2A00:1450::1", "2a00:1450::1"],
    ["64:ff9b::8.8.8.8", "64:ff9b::808:808"],
  ])("%s is the literal %s, and not a name to look up", (raw, host) => {
    expect(connect(raw)).toEqual({ ok: true, host, literal: true });
    expect(lookUp(raw)).toEqual({ ok: false, code: "invalid_host" });
  });

  it.each(
    [
      ["127.0.0.1", "127.1", "2130706433", "①②⑦.0.0.1", "0x7f.1", "::1", "[::1]", "::ffff:8.8.8.8", "[::7f00:1]"],
      ["10.0.0.1", "169.254.169.254", "fe80::1", "64:ff9b::10.0.0.1", "localhost", "a.local", "db.internal."],
      ["intranet", "com", "host.home.arpa", "LOCALHOST."],
    ].flat(),
  )("%s is not allowed", (raw) => {
    expect(connect(raw)).toEqual({ ok: false, code: "target_not_allowed" });
  });
});

describe("a name that is only looked up", () => {
  it.each([
    ["com", "com"],
    ["co.uk.", "co.uk"],
    ["arpa", "arpa"],
    [".", "."],
    ["_dmarc.Example.com", "_dmarc.example.com"],
    ["_25._tcp.mail.example.com", "_25._tcp.mail.example.com"],
    ["8.8.8.8.in-addr.arpa", "8.8.8.8.in-addr.arpa"],
    ["*.example.com", "*.example.com"],
    ["みんな", "xn--q9jyb4c"],
  ])("%s is accepted as %s", (raw, host) => {
    expect(lookUp(raw)).toEqual({ ok: true, host, literal: false });
  });

  it.each(["localhost", "a.localhost.", "local", "a.local", "internal", "a.internal", "home.arpa", "a.home.arpa"])(
    "%s is still refused",
    (raw) => {
      expect(lookUp(raw)).toEqual({ ok: false, code: "target_not_allowed" });
    },
  );

  it.each([".", "*.example.com"])("%s is not a host to connect to", (raw) => {
    expect(connect(raw)).toEqual({ ok: false, code: "invalid_host" });
  });
});

describe("an invalid host", () => {
  it.each(
    [
      ["", " ", "..", "a..b", ".example.com", "example.com..", " example.com", "example.com ", "exa mple.com"],
      [
        "http://example.com",
        "https://example.com/",
        "example.com/",
        "example.com/path",
        "example.com?x",
        "example.com#x",
      ],
      ["example.com:80", "8.8.8.8:53", "[::1]:80", "[2606:4700::1]:80", "user@example.com", "8.8.8.8/24", "a\\b.com"],
      ["[8.8.8.8]", "[2606:4700::1", "2606:4700::1]", "[]", "fe80::1%eth0", "[fe80::1%25eth0]", "2606:4700:::1"],
      ["exa\tmple.com", "example.com\n", "example.com\0", "%65xample.com", "ex%2eample.com", "1.2.3.256", "1.2.3.4.5"],
      [
        "example.123",
        "exam!ple.com",
        "a,b.com",
        "foo.*.com",
        "xn--iñvalid.com",
        "foo\u200dbar.com",
        "example\u00a0.com",
      ],
      ["example．com／path", "exam％ple.com", "*", "*.", "*.*.com", "*.8.8.8.8", `${"a".repeat(64)}.com`],
      [`${"a.".repeat(126)}co`, "a".repeat(2000), `${"ü".repeat(63)}.com`],
    ].flat(),
  )("%j is invalid in either use", (raw) => {
    expect(connect(raw)).toEqual({ ok: false, code: "invalid_host" });
    expect(lookUp(raw)).toEqual({ ok: false, code: "invalid_host" });
  });

  it("is refused, and so is a value that is not a string", () => {
    for (const raw of [undefined, null, 8, ["example.com"]] as unknown[]) {
      expect(connect(raw as string)).toEqual({ ok: false, code: "invalid_host" });
    }
  });
});
