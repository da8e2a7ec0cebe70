import { Compile } from "typebox/compile";
import { describe, expect, it } from "vitest";
import { exampleOf } from "#control-plane/surfaces/api-document/components.ts";
import { NOW } from "#test/shared/tools/examples.ts";
import { isRecord } from "#shared/text/is-record.ts";
import { writePlain } from "#shared/presentation/plain.ts";
import { present } from "#shared/tools/present.ts";
import type { Presentation } from "#shared/presentation/presentation.ts";
import { presentersByTool } from "#shared/tools/index.ts";
import type { Contract } from "#shared/tools/define.ts";
import { CONTRACTS } from "#shared/tools/index.ts";

const HOSTILE = "\u001b[2J\r\n\u202ea\u0007<b>𝒳".repeat(500);
/** Control characters, and those that change the direction of text. */
const UNSAFE = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]|undefined|NaN|\[object|Infinity/u;

/** Returns the values that a value of a result is replaced with, one of them at a time. */
type Change = (value: unknown) => readonly unknown[];

const CHANGES: Readonly<Record<string, Change>> = {
  "hostile texts": (value) => (typeof value === "string" ? [HOSTILE] : []),
  "huge numbers": (value) => (typeof value === "number" ? [Number.MAX_SAFE_INTEGER, 100] : []),
  "zeros and empty lists": (value) => (typeof value === "number" ? [0] : Array.isArray(value) ? [[]] : []),
  nothing: (value) => (value === null ? [] : [null, ...(Array.isArray(value) ? [[]] : [])]),
  "the opposite of each yes and no": (value) => (typeof value === "boolean" ? [!value] : []),
  "lists of 2,000": (value) =>
    Array.isArray(value) && value.length > 0
      ? [Array.from({ length: 2_000 }, (_, index) => value[index % value.length])]
      : [],
};

/** Replaces each value of a result for which the contract allows it, at any depth. */
function replaceAll(contract: Contract, change: Change): unknown {
  const validator = Compile(contract.result);
  const data: unknown = structuredClone(exampleOf(contract.name)?.data);
  const visit = (parent: Record<string, unknown>, key: string): void => {
    const old = parent[key];
    const isReplaced = change(old).some((value) => {
      parent[key] = value;
      return validator.Check(data);
    });
    if (isReplaced) return;
    parent[key] = old;
    if (isRecord(old) || Array.isArray(old))
      for (const inner of Object.keys(old)) visit(old as Record<string, unknown>, inner);
  };
  if (isRecord(data)) for (const key of Object.keys(data)) visit(data, key);
  expect(validator.Check(data)).toBe(true);
  return data;
}

function textsOf({ headline, facts, tables, series, findings }: Presentation): readonly string[] {
  return [
    headline,
    ...facts.flatMap(({ label, value, unit }) => [label, value, unit ?? ""]),
    ...tables.flatMap((table) => [
      table.title,
      ...table.columns.map(({ label }) => label),
      ...table.rows.flatMap(({ cells }) => cells),
    ]),
    ...series.flatMap(({ title, unit, bars }) => [title, unit, ...bars.map(({ label }) => label)]),
    ...findings.flatMap(({ message, how, where }) => [message, how ?? "", where ?? ""]),
  ];
}

describe.each(Object.entries(CHANGES))("a result with %s", (_, change) => {
  it.each(CONTRACTS.filter(({ name }) => presentersByTool.has(name)))("of $name reads as any other", (contract) => {
    const shown = present(contract, replaceAll(contract, change), NOW);
    const texts = textsOf(shown);
    const hows = shown.findings.flatMap(({ how }) => how ?? []);
    expect(texts.filter((text) => UNSAFE.test(text)).map((text) => text.slice(0, 200))).toEqual([]);
    expect(
      texts.filter((text) => Array.from(text).length > 300 && !hows.includes(text)).map((text) => text.slice(0, 80)),
    ).toEqual([]);
    expect(hows.filter((text) => Array.from(text).length > 1_000)).toEqual([]);
    expect(shown.headline).toMatch(/\S.{8}/u);
    expect(shown.headline).not.toMatch(/ {2}|: *$|, *$|\( *\)| null/);
    expect(shown.facts.length).toBeLessThanOrEqual(23);
    expect(shown.facts.filter(({ value }) => value.trim() === "")).toEqual([]);
    for (const { columns, rows, more } of shown.tables) {
      expect(columns.length).toBeGreaterThan(0);
      expect(rows.length).toBeLessThanOrEqual(40);
      expect(rows.filter(({ cells }) => cells.length !== columns.length)).toEqual([]);
      expect(more).toBeGreaterThanOrEqual(0);
    }
    expect(shown.findings.length).toBeLessThanOrEqual(100);
    expect(writePlain(shown, { width: 40 })).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
  });
});
