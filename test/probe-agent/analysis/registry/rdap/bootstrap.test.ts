import { describe, expect, it } from "vitest";
import { readBootstrap, serviceFor } from "#probe-agent/analysis/registry/rdap/bootstrap.ts";

/** A file in the form of RFC 9224 section 5. */
const file = {
  version: "1.0",
  publication: "2024-01-07T10:11:12Z",
  description: "Some text",
  services: [
    [
      ["198.51.100.0/24", "192.0.0.0/8"],
      ["https://rir1.example.com/myrdap/", "http://rir1.example.com/myrdap/"],
    ],
    [
      ["203.0.113.0/24", "192.0.2.0/24"],
      ["http://example.org", "https://example.org/rdap"],
    ],
    [["203.0.113.0/28"], ["http://example.net/rdapripe/"]],
    [["2001:db8::/34"], ["https://rir2.example.com/myrdap/"]],
  ],
};

function service(value: unknown, ip: string): string | null {
  return serviceFor(readBootstrap(value) ?? [], ip);
}

describe("the registry for an address", () => {
  it.each([
    ["198.51.100.7", "https://rir1.example.com/myrdap/"],
    ["192.0.3.1", "https://rir1.example.com/myrdap/"],
    ["192.0.2.1", "https://example.org/rdap/"],
    ["203.0.113.200", "https://example.org/rdap/"],
    ["203.0.113.5", "http://example.net/rdapripe/"],
    ["2001:db8:3fff::1", "https://rir2.example.com/myrdap/"],
    ["2001:db8:4000::1", null],
    ["8.8.8.8", null],
    ["127.1", null],
  ])("for %s it is %s: the longest match, https first, with a final slash", (ip, url) => {
    expect(service(file, ip)).toBe(url);
  });

  it("leaves out entries of another form and keeps the rest", () => {
    const services = [
      null,
      "x",
      [],
      [["8.0.0.0/8"]],
      [["8.0.0.0/8"], []],
      [["8.0.0.0/8"], ["ftp://example.com/", "javascript:alert(1)", 7, "not a url", "https://example.com/?q="]],
      [["no block", 8, "8.0.0.0/99"], ["https://example.com/"]],
      ["8.0.0.0/8", "https://example.com/"],
      [["8.8.0.0/16"], ["https://right.example/"]],
    ];
    expect(service({ services }, "8.8.8.8")).toBe("https://right.example/");
    expect(service({ services }, "8.9.8.8")).toBeNull();
  });

  it.each([[null], [[]], [{}], [{ services: {} }], ["services"], [7]])("%j is not a bootstrap file", (value) => {
    expect(readBootstrap(value)).toBeNull();
  });
});
