import { describe, expect, it } from "vitest";
import { readHeaders } from "#control-plane/monitors/settings/headers.ts";

type Headers = Readonly<Record<string, string>>;

function problemOf(headers: Headers): string {
  const read = readHeaders(headers, {});
  return read.ok ? "" : `${read.problem.field}: ${read.problem.reason}`;
}

describe("request headers", () => {
  it("keep their names as written and their values without spaces at the ends", () => {
    const read = readHeaders({ Authorization: " Bearer s3cret ", "x-empty": "" }, {});
    expect(read).toEqual({ ok: true, value: { Authorization: "Bearer s3cret", "x-empty": "" } });
  });

  it.each<readonly [Headers, string]>([
    [{ "X-A": "a\r\nX-B: b" }, "request_headers.X-A: type"],
    [{ "X-A": "a\nb" }, "request_headers.X-A: type"],
    [{ "X-A": "a\u0000" }, "request_headers.X-A: type"],
    [{ "X-A": "a\tb" }, "request_headers.X-A: type"],
    [{ "X-A": "é" }, "request_headers.X-A: type"],
    [{ "X-A": "a\u202eb" }, "request_headers.X-A: type"],
    [{ "X-A": "a".repeat(4_097) }, "request_headers.X-A: range"],
    [{ "X A": "a" }, "request_headers: type"],
    [{ "X-A:": "a" }, "request_headers: type"],
    [{ "X-A\r\nX-B": "a" }, "request_headers: type"],
    [{ "": "a" }, "request_headers: type"],
    [{ ["x".repeat(101)]: "a" }, "request_headers: type"],
    [{ "X-A": "1", "x-a": "2" }, "request_headers.x-a: duplicate"],
    [{ "X-A": "****" }, "request_headers.X-A: type"],
    [Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`x-${n}`, "a"])), "request_headers: range"],
  ])("are refused: %j", (headers, expected) => {
    expect(problemOf(headers)).toBe(expected);
  });

  it.each([
    "Host",
    "Content-Length",
    "Transfer-Encoding",
    "Connection",
    "keep-alive",
    "PROXY-CONNECTION",
    "Proxy-Authorization",
    "TE",
    "Trailer",
    "Upgrade",
    "Expect",
    "HTTP2-Settings",
  ])("cannot set %s, which the probe writes", (name) => {
    expect(problemOf({ [name]: "x" })).toBe(`request_headers.${name}: unknown`);
  });
});
