import { describe, expect, it } from "vitest";
import { checkTargetUrl, createEgress, NO_ALLOW_LISTS } from "#shared/internet/egress.ts";

function verdict(raw: string): string {
  const check = checkTargetUrl(raw);
  return check.ok ? check.url.href : check.code;
}

describe("a target URL", () => {
  it.each([
    ["http://example.com", "http://example.com/"],
    ["HTTPS://Example.COM:443/a?b#c", "https://example.com/a?b#c"],
    ["  https://example.com/  ", "https://example.com/"],
    ["https://example.com./", "https://example.com./"],
    ["https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"],
    ["https://EXAMPLE。com", "https://example.com/"],
    ["http://8.8.8.8:8080/", "http://8.8.8.8:8080/"],
    ["http://0x08080808/", "http://8.8.8.8/"],
    ["http://[2606:4700::1111]/", "http://[2606:4700::1111]/"],
    ["http://[64:ff9b::8.8.8.8]/", "http://[64:ff9b::808:808]/"],
    ["https://_acme.foo_bar.example.com/", "https://_acme.foo_bar.example.com/"],
    ["https://-a-.example.com/", "https://-a-.example.com/"],
    ["https://example.com/path@host?x=@y#@z", "https://example.com/path@host?x=@y#@z"],
    ["https://example.com/a b", "https://example.com/a%20b"],
    [`https://${"a".repeat(63)}.com/`, `https://${"a".repeat(63)}.com/`],
    [`https://${"a.".repeat(125)}com/`, `https://${"a.".repeat(125)}com/`],
  ])("%s is accepted", (raw, href) => {
    expect(verdict(raw)).toBe(href);
  });

  it.each([
    "",
    " ",
    "example.com",
    "//example.com",
    "/path",
    "http://",
    "http:",
    "ftp://example.com/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "ws://example.com/",
    "gopher://example.com/",
    "http://user@example.com/",
    "http://user:password@example.com/",
    "http://:@example.com/",
    "http://@example.com/",
    "http:user@example.com/",
    "http:///user@example.com/",
    " http://@example.com/",
    "http://user@127.0.0.1/",
    "http://exa mple.com/",
    "http://exam\tple.com/",
    "http://example.com/\n",
    "http://example.com/\r\nX: y",
    "\u0000http://example.com/",
    "http://example.com/\u007f",
    "http://example.com/\u0085",
    "http:\\\\example.com\\",
    "http://example.com\\@evil.example/",
    "http://example.com:99999/",
    "http://example.com:8a/",
    "http://[::1/",
    "http://[::1%25lo]/",
    "http://[1.2.3.4]/",
    "http://256.1.1.1/",
    "http://1.2.3.4.5/",
    "http://example.123/",
    "http://./",
    "http://../",
    "http://a..example.com/",
    "http://.example.com/",
    "http://example.com../",
    "http://*.example.com/",
    "http://a!b.example.com/",
    'http://a"b.example.com/',
    "http://exa\uFF05mple.com/",
    "http://example.com\uFF0Fpath/",
    `http://${"a".repeat(64)}.com/`,
    `http://${"a.".repeat(125)}comm/`,
    `https://example.com/${"a".repeat(70_000)}`,
  ])("%j is invalid", (raw) => {
    expect(verdict(raw)).toBe("invalid_url");
  });

  it.each(
    [
      ["127.0.0.1", "127.1", "127.0.1", "0x7f.1", "0X7F.0x0.0x0.0x1", "2130706433", "017700000001", "0x7f000001"],
      ["0177.0.0.1", "127.0.0.1.", "0", "0x", "00", "①②⑦.0.0.1", "１２７.0.0.1", "127。0。0。1", "%31%32%37.0.0.1"],
      ["[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::7f00:1]", "[::127.0.0.1]", "[::FFFF:7F00:1]"],
      ["[::ffff:8.8.8.8]", "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::1]", "[2002:7f00:1::]"],
      ["[fe80::1]", "[fc00::1]", "[fd00:ec2::254]", "[ff02::1]", "[2001:db8::1]", "[2001::1]", "[fec0::1]"],
      ["169.254.169.254", "0251.0376.0251.0376", "2852039166", "168.63.129.16", "100.100.100.200", "10.1", "192.168.1"],
      ["localhost", "LOCALHOST", "localhost.", "ⓛocalhost", "loc\u00adalhost", "a.localhost", "a.localhost.", "local"],
      ["printer.local", "printer.local.", "db.internal", "a.home.arpa", "home.arpa", "internal", "intranet", "com"],
      ["metadata.google.internal", "ｌocalhost"],
    ].flat(),
  )("a refused host in whatever spelling is not allowed: %s", (host) => {
    expect(verdict(`http://${host}/`)).toBe("target_not_allowed");
    expect(verdict(`https://${host}:8443/path?query`)).toBe("target_not_allowed");
    expect(verdict(`http:${host}`)).toBe("target_not_allowed");
    expect(verdict(`http:///${host}`)).toBe("target_not_allowed");
  });

  it.each([0, 1, 22, 25, 53, 110, 143, 465, 587, 993, 2049, 4190, 5060, 6000, 6667, 6679, 10_080])(
    "port %i is blocked by the fetch standard, also for an opened target",
    (port) => {
      const open = createEgress({ targets: ["0.0.0.0/0"], names: [] });
      expect(verdict(`http://example.com:${port}/`)).toBe("target_not_allowed");
      expect(open.checkUrl(`https://127.0.0.1:${port}/`)).toEqual({ ok: false, code: "target_not_allowed" });
    },
  );

  it.each([2, 24, 80, 81, 443, 3000, 5432, 6379, 8080, 9200, 27_017, 65_535])("port %i is open", (port) => {
    expect(checkTargetUrl(`http://example.com:${port}/`).ok).toBe(true);
  });

  it("is refused if it is not a string", () => {
    for (const raw of [undefined, null, 7, {}, []]) {
      expect(checkTargetUrl(raw as string)).toEqual({ ok: false, code: "invalid_url" });
    }
  });
});

describe("allow lists", () => {
  it("allow ranges in every spelling of an address, and nothing else", () => {
    const egress = createEgress({ targets: ["127.0.0.0/8", "10.1.2.3", "fd00::/8"], names: [] });
    for (const host of ["127.0.0.1", "127.1", "2130706433", "10.1.2.3", "[fd12::1]", "[64:ff9b::127.0.0.1]"]) {
      expect(egress.checkUrl(`http://${host}/`).ok, host).toBe(true);
    }
    for (const host of ["10.1.2.4", "192.168.0.1", "[::1]", "[::ffff:127.0.0.1]", "[fe80::1]", "localhost"]) {
      expect(egress.checkUrl(`http://${host}/`), host).toEqual({ ok: false, code: "target_not_allowed" });
    }
  });

  it("never allow an IPv4-mapped address", () => {
    const egress = createEgress({ targets: ["::/0"], names: [] });
    expect(egress.allowsAddress("::1")).toBe(true);
    expect(egress.allowsAddress("::ffff:127.0.0.1")).toBe(false);
    expect(egress.allowsAddress("::ffff:8.8.8.8")).toBe(false);
  });

  it.each([["lab.internal"], [".lab.internal"], ["*.lab.internal"], ["LAB.internal."]])(
    "allow the names at and below %s",
    (suffix) => {
      const egress = createEgress({ targets: [], names: [suffix] });
      expect(egress.checkUrl("http://lab.internal/").ok).toBe(true);
      expect(egress.checkUrl("http://a.b.lab.internal./").ok).toBe(true);
      expect(egress.checkHost("A.LAB.internal", { connects: false }).ok).toBe(true);
      expect(egress.checkUrl("http://collab.internal/").ok).toBe(false);
      expect(egress.checkUrl("http://internal/").ok).toBe(false);
      expect(egress.checkUrl("http://lab.internal.local/").ok).toBe(false);
    },
  );

  it("allow a single label and localhost if they name it", () => {
    const egress = createEgress({ targets: [], names: ["localhost", "db"] });
    expect(egress.checkUrl("http://localhost:3000/").ok).toBe(true);
    expect(egress.checkUrl("http://db/").ok).toBe(true);
    expect(egress.checkUrl("http://cache/").ok).toBe(false);
  });

  it.each(["", "10.0.0.0/33", "10.0.0/8", "::/129", "10.0.0.0/", "10.0.0.0/08", "10.0.0.0/8 ", "fe80::1%lo", "a.b"])(
    "are rejected with a RangeError if %j is among the ranges",
    (range) => {
      expect(() => createEgress({ targets: ["10.0.0.0/8", range], names: [] })).toThrow(RangeError);
    },
  );

  it.each(["", ".", "a..b", "a b", "http://a.b", "a.b/c", "a.b:80", "a".repeat(64)])(
    "are rejected with a RangeError if %j is among the names",
    (suffix) => {
      expect(() => createEgress({ targets: [], names: [suffix] })).toThrow(RangeError);
    },
  );

  it("that are empty have the same result as checkTargetUrl", () => {
    const egress = createEgress(NO_ALLOW_LISTS);
    expect(egress.checkUrl("http://127.0.0.1/")).toEqual(checkTargetUrl("http://127.0.0.1/"));
    expect(egress.checkUrl("http://example.com/").ok).toBe(true);
  });
});
