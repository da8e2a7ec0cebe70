import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { parseParams } from "#shared/schema/schema.ts";
import { Flag, IntegerList, Url, Word, WordList } from "#shared/tools/fields.ts";
import { withDefault } from "#shared/tools/define.ts";

const SCHEMA = Type.Object({
  url: Url({ description: "URL to check" }),
  method: withDefault(Type.Union([Type.Literal("GET"), Type.Literal("HEAD")]), "GET"),
  follow: withDefault(Flag({ description: "Follow redirects" }), true),
  seconds: withDefault(Type.Integer({ minimum: 1, maximum: 30 }), 15),
  ports: Type.Optional(IntegerList({ minimum: 1, maximum: 65_535 }, { description: "Ports", maxItems: 3 })),
  types: Type.Optional(WordList(["A", "MX"], { description: "Types", maxItems: 2 })),
  kind: Type.Optional(Word(["AAAA", "MX"], { description: "Type" })),
  ua: Type.Optional(Type.String({ minLength: 1, maxLength: 10 })),
});

function problemOf(raw: Record<string, unknown>, from: "text" | "json" | "strict" = "text"): string | null {
  const parsed = parseParams(SCHEMA, { url: "http://a.example", ...raw }, { from, unknown: "refuse" });
  return parsed.ok ? null : `${parsed.problem.field}:${parsed.problem.reason}`;
}

describe("parseParams", () => {
  it("fills defaults and leaves other optional fields out", () => {
    const parsed = parseParams(SCHEMA, { url: "http://a.example" }, { from: "text", unknown: "refuse" });
    expect(parsed).toEqual({
      ok: true,
      value: { url: "http://a.example", method: "GET", follow: true, seconds: 15 },
    });
  });

  it("parses numbers, flags and lists in text form", () => {
    const raw = { url: "x", seconds: "7", follow: "false", ports: "80, 443,80", types: "mx,a", kind: "aaaa" };
    const parsed = parseParams(SCHEMA, raw, { from: "text", unknown: "refuse" });
    expect(parsed).toMatchObject({
      ok: true,
      value: { seconds: 7, follow: false, ports: [80, 443], types: ["MX", "A"], kind: "AAAA" },
    });
  });

  it.each([
    [{ url: undefined }, "url:required"],
    [{ url: "" }, "url:required"],
    [{ url: 5 }, "url:type"],
    [{ url: ["a", "b"] }, "url:duplicate"],
    [{ method: "PUT" }, "method:enum"],
    [{ method: 1 }, "method:type"],
    [{ follow: "yes" }, "follow:enum"],
    [{ seconds: "31" }, "seconds:range"],
    [{ seconds: "0" }, "seconds:range"],
    [{ seconds: "" }, "seconds:type"],
    [{ seconds: " 5 " }, "seconds:type"],
    [{ seconds: "0x10" }, "seconds:type"],
    [{ seconds: "1e1" }, "seconds:type"],
    [{ seconds: "5.0" }, "seconds:type"],
    [{ seconds: Number.NaN }, "seconds:type"],
    [{ seconds: {} }, "seconds:type"],
    [{ seconds: null }, "seconds:type"],
    [{ ports: "80,,443" }, "ports:type"],
    [{ ports: "0" }, "ports:range"],
    [{ ports: "1,2,3,4" }, "ports:range"],
    [{ types: "A,AXFR" }, "types:enum"],
    [{ kind: "A" }, "kind:enum"],
    [{ kind: "" }, "kind:enum"],
    [{ kind: " MX" }, "kind:enum"],
    [{ kind: 5 }, "kind:type"],
    [{ method: "get" }, "method:enum"],
    [{ ua: "12345678901" }, "ua:range"],
    [{ other: 1 }, "other:unknown"],
    [JSON.parse('{"__proto__": {"seconds": 3}}') as Record<string, unknown>, null],
  ])("rejects %j with the field and the reason", (raw, expected) => {
    const given = { url: "http://a.example", ...raw };
    if (expected === null) Object.defineProperty(given, "__proto__", { value: 1, enumerable: true });
    const parsed = parseParams(SCHEMA, given, { from: "text", unknown: "refuse" });
    const got = parsed.ok ? null : `${parsed.problem.field}:${parsed.problem.reason}`;
    expect(got).toBe(expected ?? "__proto__:unknown");
  });

  it("reports an array for a scalar as a wrong type in JSON, and as a repetition in a query", () => {
    expect(problemOf({ seconds: [1] }, "json")).toBe("seconds:type");
    expect(problemOf({ seconds: ["1", "2"] }, "text")).toBe("seconds:duplicate");
  });

  it("accepts a list as text or, in JSON, as an array if the schema has both, and says so", () => {
    const schema = Type.Object({
      locations: Type.Unsafe<unknown>({
        anyOf: [
          { type: "string", maxLength: 5 },
          { type: "array", items: { type: "string" }, maxItems: 2 },
        ],
      }),
    });
    const read = (locations: unknown, from: "json" | "text") =>
      parseParams(schema, { locations }, { from, unknown: "refuse" });
    expect(read(["eu", "us"], "json")).toEqual({ ok: true, value: { locations: ["eu", "us"] } });
    expect(read("eu,us", "json")).toMatchObject({ ok: true });
    expect(read(["eu", "us"], "text")).toMatchObject({ problem: { reason: "duplicate" } });
    for (const wrong of [7, ["eu", 7], ["a", "b", "c"], "too long", {}]) {
      const message = "must be a string or an array";
      expect(read(wrong, "json")).toMatchObject({ problem: { field: "locations", reason: "type", message } });
    }
  });

  it("does not parse numbers from text for a caller that uses the published types", () => {
    expect(problemOf({ seconds: "7" }, "strict")).toBe("seconds:type");
    expect(problemOf({ seconds: 7 }, "strict")).toBeNull();
  });

  it("ignores unknown fields of a tool and read-only fields of a write", () => {
    const raw = { url: "x", other: 1 };
    expect(parseParams(SCHEMA, raw, { from: "json", unknown: "ignore" }).ok).toBe(true);
    expect(parseParams(SCHEMA, raw, { from: "json", unknown: "refuse", readOnly: ["other"] }).ok).toBe(true);
  });
});
