import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { parseParams } from "#shared/schema/schema.ts";
import { Nullable } from "#shared/tools/fields.ts";

// A list, object or text that is too large is refused by its size: none of its parts is looked at.

const SCHEMA = Type.Object({
  codes: Type.Optional(
    Nullable(Type.Array(Type.Union([Type.Integer(), Type.String({ maxLength: 10 })]), { maxItems: 20 })),
  ),
  either: Type.Optional(
    Type.Unsafe<unknown>({
      anyOf: [
        { type: "string", maxLength: 10 },
        { type: "array", items: { type: "string", maxLength: 10 }, maxItems: 2 },
      ],
    }),
  ),
  headers: Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 10 }), { maxProperties: 3 })),
  dns: Type.Optional(
    Nullable(
      Type.Object(
        { values: Type.Optional(Type.Array(Type.String({ maxLength: 10 }), { maxItems: 5 })) },
        { additionalProperties: false },
      ),
    ),
  ),
  groups: Type.Optional(
    Type.Array(Type.Object({ ids: Type.Array(Type.Integer(), { maxItems: 2 }) }, { additionalProperties: false }), {
      maxItems: 3,
    }),
  ),
});

const parse = (raw: Record<string, unknown>) => parseParams(SCHEMA, raw, { from: "json", unknown: "refuse" });

/** A list of this length whose items cannot be read: it throws for each one. */
function unreadable(length: number): unknown[] {
  return new Proxy(Array.from({ length: 0 }), {
    get: (target, name) => {
      if (name === "length") return length;
      if (typeof name === "string" && /^\d+$/.test(name)) throw new Error(`item ${name} was read`);
      return Reflect.get(target, name) as unknown;
    },
    has: (_, name) => {
      throw new Error(`item ${String(name)} was looked for`);
    },
    ownKeys: () => {
      throw new Error("the items were listed");
    },
  });
}

/** An object with this many members, of which none can be read. */
function unreadableObject(members: number): object {
  const object = {};
  for (let index = 0; index < members; index += 1) {
    Object.defineProperty(object, `m${index}`, {
      enumerable: true,
      get: () => {
        throw new Error(`member ${index} was read`);
      },
    });
  }
  return object;
}

describe("what is too large is refused before a part of it is read", () => {
  it.each<readonly [string, Record<string, unknown>, object]>([
    [
      "a list",
      { codes: unreadable(2_000_000) },
      { field: "codes", reason: "range", message: "must have at most 20 items, or null" },
    ],
    ["a list that can be a text too", { either: unreadable(2_000_000) }, { field: "either", reason: "type" }],
    [
      "a record",
      { headers: unreadableObject(1_000) },
      { field: "headers", reason: "range", message: "must have at most 3 fields" },
    ],
    [
      "an object with unknown members",
      { dns: unreadableObject(1_000) },
      { field: "dns.m0", reason: "unknown", message: "no such field" },
    ],
    [
      "a list inside an object",
      { dns: { values: unreadable(2_000_000) } },
      { field: "dns.values", reason: "range", message: "must have at most 5 items" },
    ],
    [
      "a list inside an object inside a list",
      { groups: [{ ids: [1] }, { ids: unreadable(2_000_000) }] },
      { field: "groups.1.ids", reason: "range", message: "must have at most 2 items" },
    ],
    ["a list of lists", { groups: unreadable(4) }, { field: "groups", reason: "range" }],
    [
      "a text inside a list inside an object",
      { dns: { values: ["a", "x".repeat(1_000_000)] } },
      { field: "dns.values.1", reason: "range", message: "must have at most 10 characters" },
    ],
    [
      "a text inside a record",
      { headers: { a: "x".repeat(1_000_000) } },
      { field: "headers.a", reason: "range", message: "must have at most 10 characters" },
    ],
  ])("%s", (_what, raw, problem) => {
    expect(parse(raw)).toMatchObject({ ok: false, problem });
  });
});

it("the first unknown field is named, and the values of unknown fields are not read", () => {
  expect(parse(unreadableObject(1_000) as Record<string, unknown>)).toMatchObject({
    problem: { field: "m0", reason: "unknown" },
  });
});

it("a long unknown name is cut where it is repeated", () => {
  const name = "n".repeat(100_000);
  expect(parse({ [name]: 1 })).toMatchObject({ problem: { field: "n".repeat(200) } });
  expect(parse({ dns: { [name]: 1, other: 2 } })).toMatchObject({ problem: { field: `dns.${"n".repeat(200)}` } });
});

it("fields of responses within a field are dropped, and an unknown one beside them is still found", () => {
  const shown = new Set(Array.from({ length: 10 }, (_, n) => `shown${n}`));
  const readOnlyInside = new Map([["dns", shown]]);
  const all = Object.fromEntries([...shown].map((name) => [name, name]));
  const read = (dns: object) => parseParams(SCHEMA, { dns }, { from: "json", unknown: "refuse", readOnlyInside });
  expect(read({ ...all, values: ["a"] })).toEqual({ ok: true, value: { dns: { values: ["a"] } } });
  expect(read({ ...all, other: 1 })).toMatchObject({ problem: { field: "dns.other", reason: "unknown" } });
  expect(read({ ...all, ...readable(1_000) })).toMatchObject({ problem: { field: "dns.m0", reason: "unknown" } });
});

/** The same with members that can be read. */
function readable(members: number): object {
  return Object.fromEntries(Array.from({ length: members }, (_, index) => [`m${index}`, index]));
}

it("what has exactly the largest size is accepted, and a character beyond the basic plane counts once", () => {
  const raw = {
    codes: Array.from({ length: 20 }, () => "😀".repeat(10)),
    either: ["a", "b"],
    headers: { constructor: "a", b: "b", c: "c" },
    dns: { values: Array.from({ length: 5 }, () => "😀".repeat(10)) },
    groups: [{ ids: [1, 2] }, { ids: [] }, { ids: [3] }],
  };
  expect(parse(raw)).toEqual({ ok: true, value: raw });
});
