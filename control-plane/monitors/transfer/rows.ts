import { parseExact } from "#shared/json/exact.ts";
import type { DocumentPart } from "#control-plane/accounts/document-part.ts";
import { readRow, type ReadRow } from "#control-plane/monitors/transfer/row.ts";

/** Rows of a document, each of which is read when it is its turn. */
interface DocumentRows {
  readonly count: number;
  /** Reads the rows in their order. After MOST_PROBLEMS problems those of a large document end. */
  read(): Iterable<ReadRow>;
}

/** A document to import, whose rows are not checked yet. */
export interface ImportedDocument {
  readonly version: number;
  readonly monitors: DocumentRows;
  /** Rows of the other lists as JSON values. */
  readonly parts: Readonly<Record<DocumentPart["name"], Iterable<unknown>>>;
}

/**
 * A document in the form in which threads exchange it, one line of JSON for each row: a monitor with problems has a list
 * of them in its place.
 */
export interface WrittenDocument {
  readonly version: number;
  readonly count: number;
  /** "" if there is none. */
  readonly monitors: string;
  readonly parts: Readonly<Record<DocumentPart["name"], string>>;
}

/** Maximum number of problems that an answer names. */
export const MOST_PROBLEMS = 50;
/** Maximum length of a row of the other lists as JSON: with names of the usual lengths, the longest has a third of it. */
const LONGEST_ROW = 262_144;

/** Returns rows that were parsed with their document. */
export function rowsOf(rows: readonly unknown[]): DocumentRows {
  return {
    count: rows.length,
    *read() {
      for (const row of rows) yield readRow(row);
    },
  };
}

/** Writes rows for another thread. Each is checked, so that the reader gets none that takes long to parse. */
export function writeRows(rows: readonly unknown[]): string {
  const lines: string[] = [];
  let problems = 0;
  for (const row of rows) {
    if (problems >= MOST_PROBLEMS) break;
    const read = readRow(row);
    if (!read.ok) problems += read.problems.length;
    lines.push(JSON.stringify(read.ok ? row : [read]));
  }
  return lines.join("\n");
}

/** Returns the rows that another thread has written. */
export function rowsFrom({ count, monitors }: Pick<WrittenDocument, "count" | "monitors">): DocumentRows {
  return {
    count,
    *read() {
      for (const line of linesOf(monitors)) {
        const row = parseExact(line, "value");
        yield Array.isArray(row) ? (row[0] as ReadRow) : readRow(row);
      }
    },
  };
}

/** Writes the rows of another list for another thread; one that is too long is a text, which is no row. */
export function writePart(rows: readonly unknown[] = []): string {
  return rows
    .map((row) => JSON.stringify(row))
    .map((line) => (line.length > LONGEST_ROW ? '"too long"' : line))
    .join("\n");
}

/** Returns the rows of another list that another thread has written. */
export function partFrom(lines: string): Iterable<unknown> {
  return {
    *[Symbol.iterator]() {
      for (const line of linesOf(lines)) yield JSON.parse(line) as unknown;
    },
  };
}

function* linesOf(lines: string): Generator<string> {
  for (let start = 0; start < lines.length;) {
    const found = lines.indexOf("\n", start);
    const end = found === -1 ? lines.length : found;
    yield lines.slice(start, end);
    start = end + 1;
  }
}
