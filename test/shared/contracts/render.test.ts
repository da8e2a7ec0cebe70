import { describe, expect, it } from "vitest";
import { flatten, renderCsv, renderText } from "#shared/contracts/render.ts";

describe("a result as lines", () => {
  it("has a path for every value, in the result's own order", () => {
    const data = { code: 200, redirects: [{ url: "http://a" }, { url: "http://b" }], tls: null, none: [], deep: {} };
    expect(flatten(data)).toEqual([
      ["code", "200"],
      ["redirects.0.url", "http://a"],
      ["redirects.1.url", "http://b"],
      ["tls", "null"],
      ["none", "[]"],
      ["deep", "{}"],
    ]);
  });

  it("is cut at the maximum, and its last line says so", () => {
    const lines = flatten(Array.from({ length: 60_000 }, (_, at) => at));
    expect(lines).toHaveLength(50_001);
    expect(lines.at(-1)).toEqual(["truncated", "true"]);
  });

  it("does not overflow the stack on deep data", () => {
    let deep: unknown = "end";
    for (let level = 0; level < 20_000; level += 1) deep = [deep];
    expect(flatten(deep)).toEqual([[Array.from({ length: 20_000 }, () => "0").join("."), "end"]]);
  });
});

describe("text", () => {
  it("ends with a comment that names the source", () => {
    expect(renderText({ code: 204 }, "http://x/api/open/http-status?q=a")).toBe(
      "code: 204\n# source: http://x/api/open/http-status?q=a\n",
    );
  });

  it("escapes control characters, so that a target cannot add lines or move the cursor", () => {
    expect(renderText({ title: "a\ncode: 200\r\u001b[2J\u009b1m\u2028" }, "s")).toBe(
      "title: a\\ncode: 200\\r\\u001b[2J\\u009b1m\\u2028\n# source: s\n",
    );
    expect(renderText({ "a\nb": 1 }, "s")).toBe("a\\nb: 1\n# source: s\n");
  });
});

describe("csv", () => {
  it("is RFC 4180 with the header key,value", () => {
    expect(renderCsv({ a: 'say "hi", please', b: true })).toBe('key,value\r\na,"say ""hi"", please"\r\nb,true\r\n');
  });

  it("contains no formula for a spreadsheet, and leaves numbers unchanged", () => {
    expect(renderCsv({ a: "=HYPERLINK(1)", b: "@x", c: -5, d: "-1.5", e: "+1x" })).toBe(
      "key,value\r\na,'=HYPERLINK(1)\r\nb,'@x\r\nc,-5\r\nd,-1.5\r\ne,'+1x\r\n",
    );
  });
});
