import { isRecord } from "#shared/text/is-record.ts";
import { hasMoreKeys } from "#shared/schema/oversize.ts";
import type { FieldProblem, Read } from "#shared/schema/problem.ts";
import { parseRow, type GivenRow } from "#control-plane/monitors/settings/parse.ts";

/** A row whose fields have their types, or its problems; `name` is the name that it gives, also if others are wrong. */
export type ReadRow =
  | { readonly ok: true; readonly value: GivenRow }
  | { readonly ok: false; readonly problems: readonly RowFieldProblem[]; readonly name: string | undefined };

/** A problem with a field of a row; null: with the whole row. */
export type RowFieldProblem = Omit<FieldProblem, "field"> & { readonly field: string | null };

/** Maximum number of problems of one row. */
const MOST_PROBLEMS = 10;
/** A row with more fields has its first problem alone: each further one costs a copy. */
const MOST_FIELDS = 100;

/** Reads a row of a document. */
export function readRow(row: unknown): ReadRow {
  if (!isRecord(row)) {
    return { ok: false, problems: [{ field: null, reason: "type", message: "must be an object" }], name: undefined };
  }
  const first = parseRow(row);
  if (first.ok) return first;
  const { name } = row;
  const problems = [first.problem, ...findFurther(row, first.problem, parseRow)];
  return { ok: false, problems, name: typeof name === "string" ? name : undefined };
}

/**
 * Finds further problems: those of the row without the fields that have one. The schema of `parse` has no rules between
 * fields. Few are found of one row: each costs a further parse.
 */
export function findFurther(
  row: Readonly<Record<string, unknown>>,
  first: FieldProblem,
  parse: (raw: Readonly<Record<string, unknown>>) => Read<unknown>,
): readonly FieldProblem[] {
  if (hasMoreKeys(row, MOST_FIELDS)) return [];
  const rest = { ...row };
  const further: FieldProblem[] = [];
  for (let last = first; further.length < MOST_PROBLEMS - 1;) {
    const [field = ""] = last.field.split(".", 1);
    // An unknown name that is cut in the problem is none of the row.
    const name = Object.hasOwn(rest, last.field) ? last.field : field;
    if (!Object.hasOwn(rest, name)) break;
    delete rest[name];
    const next = parse(rest);
    if (next.ok) break;
    further.push(next.problem);
    last = next.problem;
  }
  return further;
}

/** Returns the place of a row of a list, such as `monitors.3`. */
export function placeOf(list: string, index: number): string {
  return `${list}.${index}`;
}
