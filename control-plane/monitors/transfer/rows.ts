import type { FieldProblem } from "#shared/schema/problem.ts";
import type { Read } from "#control-plane/monitors/settings/read.ts";
import { readRow, type ReadRow } from "#control-plane/monitors/transfer/row.ts";

/** Rows of a document, each of which is read when it is its turn. */
export interface DocumentRows {
  readonly count: number;
  /** Reads the rows in their order; the problem of a row is the last one. */
  read(): Iterable<Read<ReadRow>>;
}

/** A document in the form in which threads exchange it: the rows before the first problem, one line of JSON for each. */
export interface WrittenRows {
  readonly count: number;
  /** "" if there is none. */
  readonly lines: string;
  readonly problem: FieldProblem | null;
}

/** Returns rows that were parsed with their document. */
export function rowsOf(rows: readonly unknown[]): DocumentRows {
  return {
    count: rows.length,
    *read() {
      for (const [index, row] of rows.entries()) yield readRow(row, index);
    },
  };
}

/** Writes rows for another thread. Each is checked, so that the reader gets none that takes long to parse. */
export function writeRows(rows: readonly unknown[]): WrittenRows {
  const lines: string[] = [];
  for (const [index, row] of rows.entries()) {
    const read = readRow(row, index);
    if (!read.ok) return { count: rows.length, lines: lines.join("\n"), problem: read.problem };
    lines.push(JSON.stringify(row));
  }
  return { count: rows.length, lines: lines.join("\n"), problem: null };
}

/** Returns the rows that another thread has written. */
export function rowsFrom({ count, lines, problem }: WrittenRows): DocumentRows {
  return {
    count,
    *read() {
      let index = 0;
      for (let start = 0; start < lines.length; index += 1) {
        const found = lines.indexOf("\n", start);
        const end = found === -1 ? lines.length : found;
        yield readRow(JSON.parse(lines.slice(start, end)), index);
        start = end + 1;
      }
      if (problem !== null) yield { ok: false, problem };
    },
  };
}
