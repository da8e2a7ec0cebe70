import { isRecord } from "#shared/is-record.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import { parseRow } from "#control-plane/monitors/settings/parse.ts";
import { refuse, type Read } from "#control-plane/monitors/settings/read.ts";

/** A row whose fields have their types; `parent` is the name of the row it depends on. */
export interface ReadRow {
  readonly given: Given;
  readonly parent: string | null;
}

/** Reads the row at an index of a document. Problems have their path in the document. */
export function readRow(row: unknown, index: number): Read<ReadRow> {
  const path = pathOf(index);
  if (!isRecord(row)) return refuse(path, "type", "must be an object");
  const { depends_on: parent = null } = row;
  if (parent !== null && typeof parent !== "string") {
    return refuse(`${path}.depends_on`, "type", "must be the name of another row, or null");
  }
  const given = parseRow(row);
  if (given.ok) return { ok: true, value: { given: given.value, parent } };
  const { problem } = given;
  return { ok: false, problem: { ...problem, field: `${path}.${problem.field}` } };
}

/** Returns the path of the row at an index. */
export function pathOf(index: number): string {
  return `monitors.${index}`;
}
