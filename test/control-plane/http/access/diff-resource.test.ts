import { describe, expect, it } from "vitest";
import { diffResource } from "#control-plane/http/access/diff-resource.ts";

describe("the fields of a change", () => {
  it("are those that differ, objects field by field and lists as a whole", () => {
    const before = { name: "Shop", tags: ["a"], heartbeat: { grace: 60, cron: null }, same: { list: [1, 2] } };
    const after = { name: "Shop 2", tags: ["a", "b"], heartbeat: { grace: 90, cron: null }, same: { list: [1, 2] } };
    expect(diffResource(before, after, [])).toEqual([
      { field: "name", before: "Shop", after: "Shop 2" },
      { field: "tags", before: ["a"], after: ["a", "b"] },
      { field: "heartbeat.grace", before: 60, after: 90 },
    ]);
  });

  it("have null in place of what was or is absent, and an object that appears or goes is a whole", () => {
    expect(diffResource({ filter: null, old: 1 }, { filter: { tags: ["a"] } }, [])).toEqual([
      { field: "filter", before: null, after: { tags: ["a"] } },
      { field: "old", before: 1, after: null },
    ]);
    expect(diffResource({ absent: undefined }, { absent: null, other: undefined }, [])).toEqual([]);
  });

  it("say of a secret that it has changed, also if its masks differ", () => {
    const before = { secret: "****abcd", headers: { "X-A": "****" }, name: "a" };
    const after = { secret: "****efgh", headers: { "X-A": "****", "X-B": "****" }, name: "a" };
    expect(diffResource(before, after, ["secret", "headers.X-A", "headers.X-B"])).toEqual([
      { field: "secret", before: "changed", after: "changed" },
      { field: "headers.X-A", before: "changed", after: "changed" },
      { field: "headers.X-B", before: "changed", after: "changed" },
    ]);
    expect(diffResource({ secret: { a: "x" } }, { secret: { a: "y" } }, ["secret"])).toEqual([
      { field: "secret", before: "changed", after: "changed" },
    ]);
  });

  it("have the beginning of a long value, as well-formed text that says so", () => {
    const long = "x".repeat(998);
    expect(diffResource({ text: "" }, { text: long }, [])).toEqual([{ field: "text", before: "", after: long }]);
    const [cut] = diffResource({ text: `${"x".repeat(898)}${"\u{1f600}".repeat(200)}` }, { text: "" }, []);
    expect(cut?.before).toMatch(/^"x{898}\ufffd\.\.\. \(the beginning of 1300 characters of JSON\)$/);
    expect(String(cut?.before).isWellFormed()).toBe(true);
  });

  it("are at most 50", () => {
    const fields = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`field${n}`, n]));
    expect(diffResource({}, fields, ["secret"])).toHaveLength(50);
  });
});
