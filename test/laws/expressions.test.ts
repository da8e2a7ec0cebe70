import { describe, expect, it } from "vitest";
import { addedExpressions } from "#test/laws/expressions/added.ts";
import { faultOf, withShortBounds } from "#test/laws/expressions/check.ts";
import { gatherExpressions } from "#test/laws/expressions/gather.ts";
import { parseExpressions } from "#test/laws/expressions/parse.ts";

/**
 * Expressions that exist only at run time. Both are out of a stranger's reach: the first is made of the paths of this
 * product's own routes, and those of the second, of an operator's technology rules, run in threads that are ended.
 */
const MADE_AT_RUN_TIME = [
  "control-plane/http/operations/registered-routes.ts",
  "probe-agent/analysis/page/tech/pattern.ts",
];

const gathered = await gatherExpressions();

describe("regular expressions", () => {
  it("take linear time, those that a change adds", async () => {
    expect(gathered.expressions.length).toBeGreaterThan(1_000);
    const added = addedExpressions(gathered);
    if (added === null) console.warn("no clone of git: npm run test:expressions -- --all checks every expression");
    const faults: string[] = [];
    for (const one of added ?? []) {
      const fault = await faultOf(one);
      if (fault !== null) faults.push(`${one.place} /${one.source}/${one.flags}: ${fault}`);
    }
    expect(faults).toEqual([]);
  });

  it("are made once, but for those of rules and routes", () => {
    const { runtimeCalls } = gathered;
    expect([...new Set(runtimeCalls.map((place) => place.replace(/:\d+$/, "")))].toSorted()).toEqual(MADE_AT_RUN_TIME);
  });
});

describe("the check", () => {
  it.each([
    ["a run before the end, as WHOIS status lines had it", String.raw`\s*#\d+$`],
    ["alternatives that overlap, as the start of a page had them", String.raw`^\s*(?:<!--[^]*?-->\s*)*<html`],
  ])("refuses %s", async (_, source) => {
    expect(await faultOf({ source, flags: "" })).toMatch(/polynomial|exponential/);
  });

  it("refuses bounds that multiply", async () => {
    expect(await faultOf({ source: "^(?:a{0,200}){0,200}b", flags: "" })).toMatch(/ms for/);
  });

  it.each([String.raw`^[a-z]+$`, String.raw`^a{0,60}b`])("lets %s pass", async (source) => {
    expect(await faultOf({ source, flags: "" })).toBeNull();
  });

  it("cuts bounds and nothing else", () => {
    expect(withShortBounds(String.raw`[{9}]{9}\{9}(?:a{2,50}b{7,}){0,1}`)).toBe(
      String.raw`[{9}]{3}\{9}(?:a{2,3}b{2,}){0,1}`,
    );
  });

  it("finds expressions wherever they are written", () => {
    const text = [
      "const a: RegExp = /a\\/[/]/gi;",
      "const b = `x${/b/.test(y) ? 1 : 2}`; // not /this/",
      'const c = { pattern: "^c$" };',
      'y.match("d+");',
      "const e = new RegExp(`e`);",
      "function f() { return RegExp(y); }",
    ].join("\n");
    const { expressions, calls } = parseExpressions("x.ts", text);
    expect(expressions.map(({ source, flags, place }) => [source, flags, place])).toEqual([
      [String.raw`a\/[/]`, "gi", "x.ts:1"],
      ["b", "", "x.ts:2"],
      ["^c$", "u", "x.ts:3"],
      ["d+", "", "x.ts:4"],
    ]);
    expect(calls).toEqual([
      { place: "x.ts:5", insideFunction: false },
      { place: "x.ts:6", insideFunction: true },
    ]);
  });
});
