import { describe, expect, it } from "vitest";
import { compareRecordings } from "#test/recording/compare.ts";
import { linesOf, normaliseJson, normaliseMetrics, normaliseText } from "#test/recording/normalise.ts";

describe("a recorded text", () => {
  it.each([
    ["a key", `key vtg_${"aB3".repeat(12)}.`, "key <key>."],
    ["a port", "http://127.0.0.1:43211/app", "http://127.0.0.1:<port>/app"],
    ["a link's token", `/invite/${"x".repeat(32)}?a=1`, "/invite/<token>?a=1"],
    ["the token of a form", `<input name="_csrf" value="abc">`, `<input name="_csrf" value="<csrf>">`],
    ["the hash of an asset", "/app/assets/0123456789abcdef/live.js", "/app/assets/<hash>/live.js"],
    ["the host's time", "at 2027-01-02T03:04:05.678Z", "at <time>"],
  ])("has a mark instead of %s", (_what, text, normal) => {
    expect(normaliseText(text)).toBe(normal);
  });

  it.each(["404 of 12 monitors", "2026-03-04T10:00:21.300Z", "2031-01-04T02:00:00Z", "eu-west", "/app/monitors/12"])(
    "keeps what is the same in each run: %s",
    (text) => {
      expect(normaliseText(text)).toBe(text);
    },
  );

  it("has the marks of texts that only its run has", () => {
    expect(normaliseText("/s/abc and abc", new Map([["abc", "<share>"]]))).toBe("/s/<share> and <share>");
  });

  it("has one element of markup in a line", () => {
    expect(linesOf("<p>a</p><p>b</p>")).toEqual(["<p>a</p>", "<p>b</p>"]);
  });
});

describe("a recorded JSON value", () => {
  it("keeps its keys, their order, null and numbers, and has marks for durations", () => {
    const value = { total_ms: 12, timing: { dns_ms: null, list_ms: [1] }, count: 3, etag: "abc" };
    expect(JSON.stringify(normaliseJson(value))).toBe(
      `{"total_ms":"<duration>","timing":{"dns_ms":null,"list_ms":[1]},"count":3,"etag":"<etag>"}`,
    );
  });

  it("has a mark for a signature, and none for another value", () => {
    expect(normaliseJson([{ value: "a".repeat(64) }, { value: "up" }])).toEqual([
      { value: "<signature>" },
      { value: "up" },
    ]);
  });
});

describe("recorded metrics", () => {
  it("are series without values, in one order", () => {
    const text = `# TYPE b gauge\nb{a="1"} 5\na 1e3\nb{a="1"} 5\nnodejs_active_handles{type="Socket"} 3\n`;
    expect(normaliseMetrics(text)).toEqual(["# TYPE b gauge", "a <value>", `b{a="1"} <value>`]);
  });
});

describe("two recordings", () => {
  const answer = (request: string, body: unknown) => ({ request, status: 200, headers: {}, body });

  it("differ in nothing if they are equal", () => {
    expect(compareRecordings([answer("GET /a", [1])], [answer("GET /a", [1])])).toEqual([]);
  });

  it("differ in what changed, what is new and what is gone", () => {
    const old = [answer("GET /a", { b: 1, c: 2 }), answer("GET /gone", null)];
    const now = [answer("GET /a", { b: 3, c: 2 }), answer("GET /new", null)];
    expect(compareRecordings(old, now)).toEqual([
      `GET /a\n  - "b": 1,\n  + "b": 3,`,
      "GET /new\n  is new",
      "GET /gone\n  is not asked any more",
    ]);
  });
});
