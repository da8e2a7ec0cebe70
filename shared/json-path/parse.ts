import { Cursor, PathError } from "#shared/json-path/cursor.ts";
import { parseCondition } from "#shared/json-path/parse-condition.ts";
import { parseString } from "#shared/json-path/parse-string.ts";
import type { JsonPath, Segment, Selector } from "#shared/json-path/path.ts";

/** A path, or why the text is none, in a few words. */
type ParsedPath = { readonly ok: true; readonly path: JsonPath } | { readonly ok: false; readonly message: string };

/** Maximum length of a path, in characters. */
const MAX_LENGTH = 1_000;

/** Parses a JSONPath query (RFC 9535). */
export function parseJsonPath(text: string): ParsedPath {
  if (text.length > MAX_LENGTH) return { ok: false, message: `the path has more than ${MAX_LENGTH} characters` };
  const cursor = new Cursor(text);
  try {
    if (!cursor.skip("$")) return { ok: false, message: "a path begins with $" };
    const segments = parseSegments(cursor);
    if (!cursor.atEnd) cursor.fail("expected . or [");
    return { ok: true, path: { segments } };
  } catch (error) {
    if (error instanceof PathError) return { ok: false, message: error.message };
    throw error;
  }
}

function parseSegments(cursor: Cursor): readonly Segment[] {
  const segments: Segment[] = [];
  for (;;) {
    const { position } = cursor;
    cursor.blanks();
    const segment = parseSegment(cursor);
    if (segment === null) {
      // White space belongs to what follows the query.
      cursor.back(position);
      return segments;
    }
    segments.push(segment);
  }
}

function parseSegment(cursor: Cursor): Segment | null {
  if (cursor.skip("..")) return { kind: "descendant", selectors: parseBracketed(cursor) ?? [parseShorthand(cursor)] };
  if (cursor.skip(".")) return { kind: "child", selectors: [parseShorthand(cursor)] };
  const selectors = parseBracketed(cursor);
  return selectors === null ? null : { kind: "child", selectors };
}

function parseShorthand(cursor: Cursor): Selector {
  if (cursor.skip("*")) return { kind: "wildcard" };
  const name = cursor.name();
  return name === null ? cursor.fail("expected a name or *") : { kind: "name", name };
}

function parseBracketed(cursor: Cursor): readonly Selector[] | null {
  if (!cursor.skip("[")) return null;
  const selectors: Selector[] = [];
  do {
    cursor.blanks();
    selectors.push(parseSelector(cursor));
    cursor.blanks();
  } while (cursor.skip(","));
  cursor.expect("]");
  return selectors;
}

function parseSelector(cursor: Cursor): Selector {
  if (cursor.skip("*")) return { kind: "wildcard" };
  const name = parseString(cursor);
  if (name !== null) return { kind: "name", name };
  if (cursor.skip("?")) {
    cursor.blanks();
    return { kind: "filter", condition: cursor.nested(() => parseCondition(cursor, parseSegments)) };
  }
  const start = cursor.integer();
  const { position } = cursor;
  cursor.blanks();
  if (cursor.skip(":")) return parseSlice(cursor, start);
  cursor.back(position);
  return start === null
    ? cursor.fail("expected a name in quotes, *, an index or a filter")
    : { kind: "index", index: start };
}

/** Reads a slice after its first colon. */
function parseSlice(cursor: Cursor, start: number | null): Selector {
  cursor.blanks();
  const end = cursor.integer();
  if (end !== null) cursor.blanks();
  if (!cursor.skip(":")) return { kind: "slice", start, end, step: 1 };
  const { position } = cursor;
  cursor.blanks();
  const step = cursor.integer();
  if (step === null) cursor.back(position);
  return { kind: "slice", start, end, step: step ?? 1 };
}
