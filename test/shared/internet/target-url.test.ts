import { describe, expect, it } from "vitest";
import { checkTargetUrl } from "#shared/internet/egress.ts";
import { completeUrl, siteUrls } from "#shared/internet/target-url.ts";

/** Returns the URL that a text becomes, or why it is refused. */
function readTarget(text: string): string {
  const url = completeUrl(text);
  if (url === null) return "invalid_url";
  const checked = checkTargetUrl(url);
  return checked.ok ? checked.url.href : checked.code;
}

describe("URLs as people type them", () => {
  it.each([
    ["https://example.org/a?b#c", "https://example.org/a?b#c"],
    ["http://example.org", "http://example.org/"],
    ["HTTP://EXAMPLE.org/Path", "http://example.org/Path"],
    ["  https://example.org/  ", "https://example.org/"],
    ["example.org", "https://example.org/"],
    ["EXAMPLE.org/Path", "https://example.org/Path"],
    ["example.org:8443", "https://example.org:8443/"],
    ["example.org:443/x", "https://example.org/x"],
    ["example.org:80", "https://example.org:80/"],
    ["example.org?q=1", "https://example.org/?q=1"],
    ["example.org#part", "https://example.org/#part"],
    ["example.org/?next=http://other.example/@x", "https://example.org/?next=http://other.example/@x"],
    ["example.org/a b", "https://example.org/a%20b"],
    ["  example.org  ", "https://example.org/"],
    ["example.org.", "https://example.org./"],
    ["sub_domain.example.org", "https://sub_domain.example.org/"],
    ["b\u00fccher.example", "https://xn--bcher-kva.example/"],
    ["B\u00dcCHER.example/gr\u00fcn", "https://xn--bcher-kva.example/gr%C3%BCn"],
    ["example\u3002org", "https://example.org/"],
    ["8.8.8.8", "https://8.8.8.8/"],
    ["8.8.8.8:8443/x", "https://8.8.8.8:8443/x"],
    ["2606:4700::1111", "https://[2606:4700::1111]/"],
    ["2606:4700::1111/x", "https://[2606:4700::1111]/x"],
    ["[2606:4700::1111]", "https://[2606:4700::1111]/"],
    ["[2606:4700::1111]:8443/x", "https://[2606:4700::1111]:8443/x"],
  ])("%s is %s", (text, href) => {
    expect(readTarget(text)).toBe(href);
  });

  it.each([
    "localhost",
    "localhost:8080",
    "example",
    "javascript:1",
    "example.org:25",
    "example.org:0",
    "127.0.0.1:8443",
    "127.1",
    "2130706433",
    "0x7f000001",
    "10.0.0.1/x",
    "::1",
    "2001:db8::1",
    "[2001:db8::1]:443",
    "::ffff:127.0.0.1",
    "printer.local",
  ])("%s is an address that must not be reached", (text) => {
    expect(readTarget(text)).toBe("target_not_allowed");
  });

  it.each([
    "",
    " ",
    "/",
    "/path",
    "//example.org",
    "///example.org",
    "?",
    "#",
    ":",
    ":443",
    "http:",
    "http://",
    "https://",
    "http:example.org",
    "http:/example.org",
    "https:example.org",
    "ftp://example.org",
    "file:///etc/passwd",
    "ws://example.org",
    "data:text/html,x",
    "about:blank",
    "javascript:",
    "javascript:alert(1)",
    "javascript://example.org/%0aalert(1)",
    "mailto:x@y",
    "mailto:x@example.org",
    "x@example.org",
    "user:pass@example.org",
    "user@example.org/path",
    "https://user:pass@example.org",
    "https://@example.org",
    "example.org:99999",
    "example.org:",
    "example.org:/",
    "example.org:http",
    "example.org:80:80",
    "example.org:-1",
    "example.org\\path",
    "\\\\example.org",
    "exa mple.org",
    "exa\tmple.org",
    "example.org\n",
    "\nexample.org",
    "example.org\0",
    "example.org/\u0085",
    "example..org",
    ".example.org",
    "*.example.org",
    "example,org",
    "%65xample.org",
    "exam<ple>.org",
    "1.2.3.4.5",
    "256.1.1.1",
    "1:2:3:4:5:6:7:8:9",
    "fe80::1%eth0",
    "[::1",
    "::1]",
    "[example.org]",
    "[8.8.8.8]",
    "[2606:4700::1111]x",
    `${"a".repeat(64)}.example.org`,
    `${"a.".repeat(130)}org`,
  ])("%j is not a URL", (text) => {
    expect(readTarget(text)).toBe("invalid_url");
  });

  it("cost grows linearly with the length of the text", () => {
    for (const text of [" ".repeat(60_000), "a".repeat(60_000), "a:".repeat(30_000), ":".repeat(60_000)]) {
      expect(readTarget(text)).toBe("invalid_url");
    }
  });
});

describe("URLs to try for a site", () => {
  it.each([
    ["example.org", ["https://example.org", "http://example.org"]],
    ["example.org:8080", ["https://example.org:8080", "http://example.org:8080"]],
    ["2606:4700::1111", ["https://[2606:4700::1111]", "http://[2606:4700::1111]"]],
    ["http://example.org/x", ["http://example.org/x"]],
    ["mailto:x@y", ["mailto:x@y"]],
  ])("%s", (text, urls) => {
    expect(siteUrls(text)).toEqual(urls);
  });
});
