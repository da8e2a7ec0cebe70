import { describe, expect, it } from "vitest";
import { http1Request, http2Request, requestHeaders, forOtherOrigin } from "#probe-agent/net/http/request.ts";

const AGENT = "Vantage/1 (+https://vantage.example)";

function headersOf(more: { userAgent?: string; headers?: readonly (readonly [string, string])[] }) {
  return requestHeaders({ url: "http://a.example/", method: "GET", follow: true, ...more }, AGENT);
}

describe("requestHeaders", () => {
  it("starts with our own fields and adds the caller's", () => {
    expect(headersOf({ headers: [["X-One", "1"]] })).toEqual({
      ok: true,
      headers: [
        ["User-Agent", AGENT],
        ["Accept", "*/*"],
        ["Accept-Encoding", "gzip, deflate, br, zstd"],
        ["X-One", "1"],
      ],
    });
  });

  it("lets the caller replace Accept and the User-Agent", () => {
    const made = headersOf({ userAgent: " Caf\u00e9/1 ", headers: [["accept", "text/markdown"]] });
    expect(made.ok && made.headers).toEqual([
      ["User-Agent", "Caf\u00e9/1"],
      ["Accept-Encoding", "gzip, deflate, br, zstd"],
      ["accept", "text/markdown"],
    ]);
  });

  it.each(["a\r\nX-Injected: 1", "a\u0000b", "snow \u2603", "", "   ", "a\u007fb"])(
    "refuses the User-Agent %j",
    (userAgent) => {
      expect(headersOf({ userAgent })).toMatchObject({ ok: false, invalid: { status: "invalid", field: "ua" } });
    },
  );

  it.each([
    [["Host", "b.example"]],
    [["content-length", "5"]],
    [["Transfer-Encoding", "chunked"]],
    [["X Y", "1"]],
    [["X", "1\r\nY: 2"]],
    [["", "1"]],
  ] as const)("refuses the field %j", (field) => {
    expect(headersOf({ headers: [field] })).toMatchObject({ ok: false, invalid: { field: "request_headers" } });
  });
});

describe("a request to another origin", () => {
  const url = new URL("http://b.example/");
  const names = ["Authorization", "Cookie", "X-Api-Key", "X-Plain", "Referer", "Accept-Secret", "content-language"];
  const kept = ["Accept", "accept-language", "Accept-Encoding", "Accept-Charset", "User-Agent", "Content-Type"];
  const headers = [...names, ...kept].map((name) => [name, "v"] as const);

  it("has none of the caller's fields but those that describe the client", () => {
    const request = forOtherOrigin({ url, method: "GET", headers, body: null });
    expect(request.headers.map(([name]) => name)).toEqual(kept);
  });

  it("keeps its method without its body and the type of that", () => {
    const { method, body, headers: left } = forOtherOrigin({ url, method: "POST", headers, body: Buffer.from("x") });
    expect([method, body, left.map(([name]) => name)]).toEqual(["POST", null, kept.slice(0, -1)]);
  });
});

describe("the request on the wire", () => {
  const url = new URL("http://a.example:8080/p\u00e4th?q=\u00fc#frag");
  const headers = [["X-Twice", "1"] as const, ["X-Twice", "2"] as const];

  it("is HTTP/1.1 with host and port, without the fragment, and closes", () => {
    expect(http1Request({ url, method: "GET", headers, body: null }).toString("latin1")).toBe(
      "GET /p%C3%A4th?q=%C3%BC HTTP/1.1\r\nHost: a.example:8080\r\nX-Twice: 1\r\nX-Twice: 2\r\nConnection: close\r\n\r\n",
    );
  });

  it("sends the length of a POST, also of an empty one", () => {
    const post = { url, method: "POST", headers: [] } as const;
    expect(http1Request({ ...post, body: null }).toString("latin1")).toContain("\r\nContent-Length: 0\r\n");
    const body = Buffer.from("hello");
    expect(http1Request({ ...post, body }).toString("latin1")).toMatch(/Content-Length: 5\r\n.*\r\n\r\nhello$/s);
    expect(http2Request({ ...post, body })["content-length"]).toBe("5");
  });

  it("has the pseudo-header fields first on HTTP/2 and repeats as lists", () => {
    expect(Object.entries(http2Request({ url, method: "GET", headers, body: null }))).toEqual([
      [":method", "GET"],
      [":scheme", "http"],
      [":authority", "a.example:8080"],
      [":path", "/p%C3%A4th?q=%C3%BC"],
      ["x-twice", ["1", "2"]],
    ]);
  });
});
