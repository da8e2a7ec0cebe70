import { Type, type TObject } from "typebox";
import { describe, expect, it } from "vitest";
import { problemInside, parseParams } from "#shared/schema/schema.ts";
import { fieldMessage, type FieldProblem } from "#shared/schema/problem.ts";
import type { Contract } from "#shared/tools/define.ts";
import { CONTRACTS } from "#shared/tools/index.ts";
import * as batches from "#control-plane/checks/batches/schemas.ts";
import { decideTarget } from "#control-plane/checks/target.ts";
import { PageFields } from "#control-plane/http/params.ts";
import * as measurements from "#control-plane/checks/measurements/schemas.ts";
import { exampleOf } from "#control-plane/surfaces/api-document/components.ts";
import { CALL_PARAMS } from "#control-plane/checks/tool-requests/call-params.ts";

/** Values that cause every reason for which a field's value is refused. */
const TEXTS = [
  "",
  " ",
  "x",
  "-1",
  "1e9",
  "99999999999",
  "0",
  "5",
  "a b",
  "a,b",
  ",",
  "1,2,x",
  "70000",
  "é\n",
  "ports",
  "udp",
];
const TARGETS = ["http://x y", "ftp://a.example/", "http://u:p@a.example/", "user@a.example", "x".repeat(9_000)];
const LISTS = [[], ["a"], [1], ["a", "b"], Array.from({ length: 2_000 }, () => "a")];
const MANY = Array.from({ length: 30 }, (_, index) => index + 1).join();
const BAD = [undefined, null, true, 0, -1, 1.5, 5, 1e9, {}, { a: 1 }, MANY, ...TEXTS, ...TARGETS, ...LISTS];

/** Words of JSON Schema and of our own code, which mean nothing to an API's caller. */
const JARGON =
  /\b(?:enum|anyOf|oneOf|allOf|const|constant|pattern|schema|instancePath|additionalProperties|multipleOf|min(?:imum|Length|Items)|max(?:imum|Length|Items)|undefined|null\b(?<!or null)|NaN|Infinity)\b|\[object|"\^|x-kind/;

/** Paths and query syntax of the API. An MCP client gets the same messages and can use neither. */
const API_SYNTAX = /\/api\/|\b(?:GET|POST) \/|[a-z_]=[a-z0-9]/;

/** Returns the problems when each field in turn has each invalid value and the others are valid. */
function problemsOf(params: TObject, good: Readonly<Record<string, unknown>>, contract?: Contract): FieldProblem[] {
  const found: FieldProblem[] = [];
  for (const field of [...Object.keys(params.properties), "nonsense"]) {
    for (const bad of BAD) {
      for (const from of ["text", "json", "strict"] as const) {
        const { [field]: _replaced, ...rest } = good;
        const raw = bad === undefined ? rest : { ...rest, [field]: bad };
        const parsed = parseParams(params, raw, { from, unknown: "refuse" });
        if (!parsed.ok) found.push(parsed.problem);
        else if (contract !== undefined) found.push(...afterParsing(contract, parsed.value));
      }
    }
  }
  return found;
}

function afterParsing(contract: Contract, value: object): readonly FieldProblem[] {
  const refined = contract.refine?.(value as never) ?? null;
  if (refined !== null) return [refined];
  const target = decideTarget(contract, value as Readonly<Record<string, unknown>>, []);
  return target.ok || target.refused ? [] : [target.problem];
}

/** Returns what is wrong with a message. It must name its field once, at its start, and be free of jargon. */
function faultsOf(problem: FieldProblem): readonly string[] {
  const text = fieldMessage(problem);
  const rest = text.slice(problem.field.length + 2);
  const isDoubled = rest.toLowerCase().startsWith(problem.field.toLowerCase()) || /: (?:the )?(\S+): \1\b/.test(text);
  const isRepeating = /\b(an? \w+) or \1\b/.test(rest);
  const isJargon = JARGON.test(rest.replaceAll(/"[^"]*"/g, ""));
  const isForRest = API_SYNTAX.test(rest.replaceAll(/"[^"]*"/g, ""));
  return isDoubled || isRepeating || isJargon || isForRest ? [text.slice(0, 300)] : [];
}

describe("the message of a refused field names it once and has no words of JSON Schema", () => {
  it.each(CONTRACTS.map((contract) => [contract.name, contract] as const))("%s", (name, contract) => {
    const good = exampleOf(name)?.params ?? contract.example;
    const problems = problemsOf(contract.params, good, contract);
    expect(problems.length).toBeGreaterThan(10);
    expect([...new Set(problems.flatMap(faultsOf))]).toEqual([]);
  });

  it.each<readonly [string, TObject]>([
    ["parameters of every call", CALL_PARAMS],
    ["page and per_page", Type.Object(PageFields)],
    ...Object.entries({ ...batches, ...measurements }).filter(([, schema]) => "properties" in schema),
  ])("%s", (_name, schema) => {
    expect([...new Set(problemsOf(schema, {}).flatMap(faultsOf))]).toEqual([]);
  });

  it("for every reason", () => {
    const reasons = CONTRACTS.flatMap((contract) =>
      problemsOf(contract.params, exampleOf(contract.name)?.params ?? contract.example, contract),
    ).map(({ reason }) => reason);
    expect(new Set(reasons)).toEqual(
      new Set(["required", "type", "range", "enum", "unknown", "duplicate", "invalid_url"]),
    );
  });
});

describe("a problem inside a value", () => {
  const INNER = Type.Object(
    {
      list: Type.Optional(Type.Array(Type.Enum(["a", "b"]), { minItems: 1, maxItems: 2 })),
      even: Type.Optional(Type.Integer({ minimum: 4, maximum: 8, multipleOf: 2 })),
      text: Type.Optional(Type.String({ minLength: 2, maxLength: 3, pattern: "^a" })),
      fixed: Type.Optional(Type.Literal("x")),
      deep: Type.Optional(Type.Object({ name: Type.String() }, { additionalProperties: false })),
    },
    { additionalProperties: false },
  );

  it.each([
    [{ list: ["c"] }, "outer.list.0", "enum", "must be one of a, b"],
    [{ list: [] }, "outer.list", "range", "must have at least 1 item"],
    [{ list: ["a", "b", "a"] }, "outer.list", "range", "must have at most 2 items"],
    [{ list: "a" }, "outer.list", "type", "must be an array"],
    [{ even: 5 }, "outer.even", "range", "must be a multiple of 2"],
    [{ even: 2 }, "outer.even", "range", "must be at least 4"],
    [{ even: 10 }, "outer.even", "range", "must be at most 8"],
    [{ text: "b" }, "outer.text", "range", "must have at least 2 characters"],
    [{ text: "aaaa" }, "outer.text", "range", "must have at most 3 characters"],
    [{ text: "bb" }, "outer.text", "type", "does not have the documented form"],
    [{ fixed: "y" }, "outer.fixed", "enum", "must be x"],
    [{ deep: {} }, "outer.deep.name", "required", "is required"],
    [{ deep: { name: "a", more: 1 } }, "outer.deep.more", "unknown", "no such field"],
  ])("%j has a plain message", (value, field, reason, message) => {
    expect(problemInside("outer", INNER, value)).toEqual({ field, reason, message });
  });
});
