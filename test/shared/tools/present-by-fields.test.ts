import { describe, expect, it } from "vitest";
import { tellByFields } from "#shared/tools/present-by-fields.ts";
import { whois } from "#shared/tools/whois/contract.ts";

/** Presents fields as those of a whois result. */
const tell = (data: unknown) => tellByFields(whois, data);
const factsOf = (data: unknown) => tell(data).facts?.map(({ label, value }) => `${label}: ${value}`);

describe("a result that is presented by its fields", () => {
  it("has values as facts, and lists of objects as tables", () => {
    const shown = tell({
      host: "shop.test",
      is_signed: true,
      registrar: { name: "Example", iana_id: 9999, parts: { deep: "not shown" } },
      nameservers: ["ns1.shop.test", "ns2.shop.test"],
      servers: [{ server: "whois.test", took_ms: 12 }],
      nothing: null,
      elapsed_ms: 9,
    });
    expect(shown.headline).toBe("WHOIS and RDAP: shop.test");
    expect(shown.facts?.map(({ label, value }) => `${label}: ${value}`)).toEqual([
      "Host: shop.test",
      "Is signed: yes",
      "Registrar: name: Example",
      "Registrar: iana id: 9999",
      "Nameservers: ns1.shop.test, ns2.shop.test",
    ]);
    expect(shown.tables).toEqual([
      {
        title: "Servers",
        columns: [{ label: "Server" }, { label: "Took ms", numeric: true }],
        rows: [{ cells: ["whois.test", "12"] }],
        more: 0,
      },
    ]);
  });

  it.each([null, undefined, 7, "text", true, [], [1, 2], {}, [[["a"]]]])("can be %j", (data) => {
    expect(tell(data)).toEqual({ headline: "WHOIS and RDAP", facts: [], tables: [] });
  });

  it("has the columns of all its rows, and no table of objects that have no value", () => {
    const shown = tell({ rows: [{ a: 1 }, { b: "x" }], empty: [{}, {}], lists: [{ a: [1] }] });
    expect(shown.tables).toEqual([
      {
        title: "Rows",
        columns: [{ label: "A", numeric: true }, { label: "B" }],
        rows: [{ cells: ["1", ""] }, { cells: ["", "x"] }],
        more: 0,
      },
    ]);
  });

  it("is bounded: 10,000 rows, fields and items, and a megabyte of text", () => {
    const many = Array.from({ length: 10_000 }, (_, index) => index);
    const shown = tell({
      host: "x".repeat(1_000_000),
      rows: many.map((index) => ({ index })),
      items: many,
      ...Object.fromEntries(many.map((index) => [`field_${index}`, index])),
      ["y".repeat(1_000_000)]: 1,
    });
    expect(Array.from(shown.headline)).toHaveLength(300);
    expect(shown.facts).toHaveLength(30);
    expect(shown.tables?.map(({ rows, more }) => [rows.length, more])).toEqual([[40, 9_960]]);
    expect(shown.facts?.[1]?.value).toBe("0, 1, 2, 3, 4, 5, 6, 7 and 9992 more");
    expect(Array.from(tell({ ["y".repeat(1_000_000)]: 1 }).facts?.[0]?.label ?? "").length).toBeLessThanOrEqual(60);
  });

  it("has at most 30 tables, each with at most six columns", () => {
    const row = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`column_${index}`, index]));
    const shown = tell(Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`table_${index}`, [row]])));
    expect(shown.tables).toHaveLength(30);
    expect(shown.tables?.[0]?.columns).toHaveLength(6);
  });

  it("shows names and values without characters that nobody sees", () => {
    expect(factsOf({ "a\u001b[2J\u202e_b": "c\nd\u2066" })).toEqual(["A [2J b: c d"]);
    expect(tell({ "t\u0007": [{ "k\u0007": "v\u0007" }] }).tables).toEqual([
      { title: "T", columns: [{ label: "K" }], rows: [{ cells: ["v"] }], more: 0 },
    ]);
  });

  it("shows names of JavaScript objects as any other", () => {
    const data: unknown = JSON.parse(
      '{"__proto__": "a", "constructor": "b", "rows": [{"__proto__": 1, "toString": "c"}, {"x": 2}], "deep": {"__proto__": "d"}}',
    );
    expect(factsOf(data)).toEqual(["Proto: a", "Constructor: b", "Deep: proto: d"]);
    expect(tell(data).tables?.[0]?.rows).toEqual([{ cells: ["1", "c", ""] }, { cells: ["", "", "2"] }]);
  });

  it("can be nested 100,000 deep", () => {
    let deep: unknown = "bottom";
    for (let level = 0; level < 100_000; level += 1) deep = level % 2 === 0 ? { deep } : [deep];
    expect(factsOf({ host: "shop.test", deep })).toEqual(["Host: shop.test"]);
  });
});
