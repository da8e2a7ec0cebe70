import { describe, expect, it } from "vitest";
import { readLocation, redirected } from "#probe-agent/net/http/redirect.ts";
import { parseHead } from "#probe-agent/net/http/response-head.ts";

const FROM = new URL("https://a.example/dir/page?q=1#frag");

function locationOf(fields: string, code = 302) {
  const head = parseHead(Buffer.from(`HTTP/1.1 ${code} X\r\n${fields}\r\n\r\n`).toString("latin1"));
  if (head === null) throw new Error("no head");
  return readLocation(head, FROM);
}

describe("readLocation", () => {
  it.each([
    ["/x", "https://a.example/x#frag"],
    ["other", "https://a.example/dir/other#frag"],
    ["?r=2", "https://a.example/dir/page?r=2#frag"],
    ["//b.example/", "https://b.example/#frag"],
    ["http://b.example/#own", "http://b.example/#own"],
    ["http://b.example/#", "http://b.example/#"],
    ["/caf\u00e9", "https://a.example/caf%C3%A9#frag"],
    ["http://m\u00fcnchen.example/", "http://xn--mnchen-3ya.example/#frag"],
    ["/with space", "https://a.example/with%20space#frag"],
  ])("resolves %j against the hop", (location, expected) => {
    expect(locationOf(`Location: ${location}`)).toEqual({ location: expected, next: new URL(expected) });
  });

  it.each([
    ["X: 1"],
    ["Location:"],
    ["Location: http://"],
    ["Location: http://[::1"],
    ["Location: \\\\b.example\\"],
    ["Location: /a\u0000b"],
    ["Location: /one\r\nLocation: /two"],
    [`Location: /${"a".repeat(9000)}`],
  ])("finds nothing usable in %.40j", (fields) => {
    expect(locationOf(fields)).toEqual({ location: null, next: null });
  });

  it("keeps octets that are not UTF-8 unchanged", () => {
    const head = parseHead("HTTP/1.1 302 X\r\nLocation: /caf\u00e9\r\n\r\n");
    expect(head && readLocation(head, FROM).location).toBe("https://a.example/caf%E9#frag");
  });

  it("counts two equal Locations as one", () => {
    expect(locationOf("Location: /x\r\nLocation: /x").location).toBe("https://a.example/x#frag");
  });

  it.each(["mailto:a@b.example", "ftp://b.example/", "javascript:alert(1)", "file:///etc/passwd", "intent://x"])(
    "shows %s but does not follow it",
    (location) => {
      const verdict = locationOf(`Location: ${location}`);
      expect(verdict.location).not.toBeNull();
      expect(verdict.next).toBeNull();
    },
  );

  it.each([
    [200, false],
    [201, false],
    [300, false],
    [301, true],
    [302, true],
    [303, true],
    [304, false],
    [305, false],
    [307, true],
    [308, true],
  ])("follows a %i: %s", (code, follows) => {
    expect(locationOf("Location: /x", code).next !== null).toBe(follows);
  });
});

describe("redirected", () => {
  it.each([
    [301, "POST", "GET"],
    [302, "POST", "GET"],
    [303, "POST", "GET"],
    [307, "POST", "POST"],
    [308, "POST", "POST"],
    [301, "HEAD", "HEAD"],
    [303, "HEAD", "HEAD"],
    [308, "GET", "GET"],
  ] as const)("after a %i a %s becomes a %s", (code, method, expected) => {
    const body = new Uint8Array([1]);
    const headers = [["Content-Type", "text/plain"] as const, ["Accept", "*/*"] as const];
    const next = redirected({ url: FROM, method, headers, body }, code, new URL("http://b.example/"));
    expect(next.method).toBe(expected);
    expect(next.url.href).toBe("http://b.example/");
    const dropped = method === "POST" && expected === "GET";
    expect(next.body).toBe(dropped ? null : body);
    expect(next.headers.length).toBe(dropped ? 1 : 2);
  });
});
