import type { Column, Fact, Row, Series, Table, Verdict } from "#shared/presentation/presentation.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";

/** Maximum number of characters of a text. */
export const MOST_TEXT = 300;
/** Maximum number of rows of a table. */
export const MOST_ROWS = 40;

/** A value that can be shown. null, undefined and an empty text have nothing to show. */
type Shown = string | number | null | undefined;

/** Returns text of a result as one line of at most 300 characters. */
export function oneLine(text: string): string {
  return toPlainLine(text, MOST_TEXT);
}

/** Makes a fact; null if there is no value. Write it into `facts`. */
export function fact(
  label: string,
  value: Shown,
  { unit, tone }: { readonly unit?: string; readonly tone?: Verdict | null } = {},
): Fact | null {
  const text = cell(value);
  if (text === "") return null;
  return { label: oneLine(label), value: text, ...(unit === undefined ? {} : { unit }), ...(tone ? { tone } : {}) };
}

/** Returns those facts, tables or series that exist. */
export function existing<T>(...items: readonly (T | null | false | undefined)[]): readonly T[] {
  return items.filter((item): item is T => item !== null && item !== undefined && item !== false);
}

/** A column as a table of a presenter names it: a label, with a `#` before that of a numeric column. */
type ColumnName = string;

/** The values of a row, with a tone if it is marked. */
type RowValues = readonly Shown[] | { readonly cells: readonly Shown[]; readonly tone: Verdict | null };

/**
 * Makes a table of at most 40 rows; null if it has none, or no value. Columns without any value are left out. `total`:
 * the number of rows of the whole list, if the result has only its beginning.
 */
export function table(
  title: string,
  columns: readonly ColumnName[],
  rows: readonly RowValues[],
  total = rows.length,
): Table | null {
  const shown = rows.slice(0, MOST_ROWS).map((row): Row => {
    const { cells, tone } = "cells" in row ? row : { cells: row, tone: null };
    return { cells: columns.map((_, index) => cell(cells[index])), ...(tone === null ? {} : { tone }) };
  });
  const used = columns.flatMap((_, index) => (shown.some(({ cells }) => cells[index] !== "") ? [index] : []));
  if (used.length === 0) return null;
  return {
    title: oneLine(title),
    columns: used.map((index) => column(columns[index] ?? "")),
    rows: shown.map((row) => ({ ...row, cells: used.map((index) => row.cells[index] ?? "") })),
    more: Math.max(0, total - shown.length),
  };
}

function column(name: ColumnName): Column {
  return name.startsWith("#") ? { label: oneLine(name.slice(1)), numeric: true } : { label: oneLine(name) };
}

function cell(value: Shown): string {
  return value === null || value === undefined ? "" : oneLine(String(value));
}

/** A phase of a waterfall: its name and its duration, null if it did not happen. */
type Phase = readonly [label: string, length: number | null | undefined];

/** Makes a series of phases that follow each other; null if none happened. */
export function waterfall(title: string, unit: string, phases: readonly Phase[]): Series | null {
  let start = 0;
  const bars = phases.flatMap(([label, length]) => {
    if (length === null || length === undefined || !(length > 0)) return [];
    const bar = { label: oneLine(label), start, length };
    start += length;
    return [bar];
  });
  return bars.length === 0 ? null : { title: oneLine(title), unit, bars };
}
