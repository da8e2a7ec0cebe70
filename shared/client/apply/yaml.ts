import {
  Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type ScalarTag,
} from "yaml";
import { isRawNumber, toExactNumber } from "#shared/json/exact.ts";
import { findExcess, findWrongNames, startOf } from "#shared/client/apply/bounds.ts";

/** A place in a file; lines and columns begin at 1. */
interface FilePlace {
  readonly line: number;
  readonly column: number;
}

/** A problem of a file and where it is; null: the whole file. */
export interface FileProblem {
  readonly place: FilePlace | null;
  readonly message: string;
}

/** Names of members and indexes of items, from the outside to the inside. */
export type Path = readonly (string | number)[];

/** A parsed file: its value as JSON, and where its parts are. */
export interface ParsedYaml {
  readonly value: unknown;
  /** Returns where a part begins: a member at its name. Of a part that is not written it is what would contain it. */
  readonly placeOf: (path: Path) => FilePlace;
}

/** Maximum number of problems that are named: a text can have millions. */
export const MOST_PROBLEMS = 100;

/**
 * Parses YAML 1.2, of which JSON is a part; a map can take over another with `<<`. Returns the problems of the text, so
 * that no value is in their messages: it can be a secret.
 */
export function parseYaml(
  text: string,
):
  | { readonly ok: true; readonly parsed: ParsedYaml }
  | { readonly ok: false; readonly problems: readonly FileProblem[] } {
  const lines = new LineCounter();
  const placeAt = (offset: number): FilePlace => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const excess = findExcess(text);
  if (excess !== null)
    return { ok: false, problems: [{ place: placeIn(text, excess.offset), message: excess.message }] };
  // Names are compared by findWrongNames: the parser compares each with all before it.
  const options = { lineCounter: lines, prettyErrors: false, merge: true, version: "1.2", uniqueKeys: false } as const;
  const document = parseDocument(text, options);
  const faults = [...document.errors, ...document.warnings].map(({ message, pos }) => ({ offset: pos[0], message }));
  const problems = [...faults, ...findWrongNames(document)];
  if (problems.length > 0) {
    const named = problems.toSorted((one, other) => one.offset - other.offset).slice(0, MOST_PROBLEMS);
    return { ok: false, problems: named.map(({ offset, message }) => ({ place: placeAt(offset), message })) };
  }
  keepDigits(document);
  // What aliases add is known to be little.
  const value: unknown = document.toJS({ maxAliasCount: -1 });
  return { ok: true, parsed: { value, placeOf: (path) => placeAt(offsetOf(document, path)) } };
}

/** Puts numbers with all their digits in the place of those that were rounded. */
function keepDigits(document: Document): void {
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === "number" && node.source !== undefined)
        node.value = toExactNumber(node.source) ?? node.value;
    },
  });
}

/** Returns the place of an offset in a text that was not parsed. */
function placeIn(text: string, offset: number): FilePlace {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}

function offsetOf(document: Document, path: Path): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const step of path) {
    if (isAlias(node)) return offset;
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
      if (pair === undefined) return offset;
      offset = startOf(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      const item = node.items[Number(step)];
      if (item === undefined) return offset;
      node = item;
      offset = startOf(node) ?? offset;
    } else return offset;
  }
  return offset;
}

/** A comment before a part of a document, [] for all of it: lines without control characters. */
export interface YamlComment {
  readonly path: Path;
  readonly lines: readonly string[];
}

/** Writes a number with its digits as they are. */
const RAW_NUMBER: ScalarTag = {
  tag: "tag:yaml.org,2002:float",
  default: true,
  identify: isRawNumber,
  resolve: (text) => text,
  stringify: ({ value }) => (isRawNumber(value) ? value.rawJSON : String(value)),
};

/**
 * Writes a JSON value as YAML. Strings that readers of YAML 1.1 would take for something else, such as yes, are quoted.
 * The order of names is kept, and lines are not folded.
 */
export function writeYaml(value: unknown, comments: readonly YamlComment[] = []): string {
  const document = new Document(value, {
    customTags: (tags) => [...tags, RAW_NUMBER],
    compat: "yaml-1.1",
    aliasDuplicateObjects: false,
  });
  for (const { path, lines } of comments) {
    const part = path.length === 0 ? document : document.getIn(path, true);
    if (part instanceof Document || isNode(part)) part.commentBefore = lines.map((line) => ` ${line}`).join("\n");
  }
  return document.toString({ lineWidth: 0 });
}
