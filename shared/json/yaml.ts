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
  CST,
  isCollection,
  isPair,
  Lexer,
  Parser,
} from "yaml";
import { isRawNumber, toExactNumber } from "#shared/json/exact.ts";

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

/** A problem of a text, and where it begins. */
interface PlacedProblem {
  readonly offset: number;
  readonly message: string;
}

/** Maximum length of a text, also with what its aliases name in their places, in characters. */
const LONGEST_TEXT = 8 * 1024 * 1024;
/** Maximum number of collections in each other: functions call themselves for each. */
const MOST_DEPTH = 100;
/** Maximum number of anchors and aliases: each alias is looked up among those before it. */
const MOST_REFERENCES = 10_000;

/** Finds what makes a text too much to parse: its length, its depth, or the number of its anchors and aliases. */
function findExcess(text: string): PlacedProblem | null {
  if (text.length > LONGEST_TEXT) return { offset: 0, message: "a document has at most 8 MB" };
  const parser = new Parser();
  let references = 0;
  let isContent = false;
  for (const lexeme of new Lexer().lex(text)) {
    if (!isContent && /^[&*]/.test(lexeme)) references += 1;
    isContent = lexeme === CST.SCALAR;
    if (references > MOST_REFERENCES) {
      const message = `a document has at most ${MOST_REFERENCES} anchors and aliases`;
      return { offset: parser.offset, message };
    }
    // What it yields is dropped: its stack has one token for each open collection.
    Array.from(parser.next(lexeme));
    if (parser.stack.length > MOST_DEPTH) {
      return { offset: parser.offset, message: `lists and objects can be in each other up to ${MOST_DEPTH} deep` };
    }
  }
  return null;
}

/**
 * Finds aliases that name nothing before them, or what they are in, and names that an object has twice. If there are none, what
 * the text is with its aliases resolved is at most LONGEST_TEXT: aliases of aliases could make billions of values.
 */
function findWrongNames(document: Document): readonly PlacedProblem[] {
  const problems: PlacedProblem[] = [];
  /** Sizes of what anchors name, in characters; null if it has not ended. */
  const sizes = new Map<string, number | null>();
  const refuse = (node: unknown, message: string) => void problems.push({ offset: startOf(node) ?? 0, message });

  function sizeOf(node: unknown): number {
    if (isPair(node)) return sizeOf(node.key) + sizeOf(node.value);
    if (isAlias(node)) {
      const size = sizes.get(node.source);
      if (size === undefined) refuse(node, `no anchor before it is &${node.source}`);
      if (size === null) refuse(node, `is inside of what &${node.source} names`);
      return size ?? 0;
    }
    if (!isNode(node)) return 0;
    const { anchor } = node as { readonly anchor?: string };
    if (anchor !== undefined) sizes.set(anchor, null);
    if (isMap(node)) findTwice(node.items.map(({ key }) => key));
    const inside = isCollection(node)
      ? node.items.reduce<number>((sum, item) => sum + sizeOf(item), 0)
      : lengthOf(node);
    if (anchor !== undefined) sizes.set(anchor, inside + 1);
    return inside + 1;
  }

  function findTwice(keys: readonly unknown[]): void {
    const names = new Set<unknown>();
    for (const key of keys) {
      if (!isScalar(key)) continue;
      if (names.has(key.value)) refuse(key, "Map keys must be unique");
      names.add(key.value);
    }
  }

  const size = sizeOf(document.contents);
  if (size > LONGEST_TEXT && problems.length === 0)
    return [{ offset: 0, message: "with its aliases resolved, a document has at most 8 MB" }];
  return problems;
}

/** Returns the offset at which a node begins. */
function startOf(node: unknown): number | undefined {
  return (node as { readonly range?: readonly number[] | null } | null | undefined)?.range?.[0];
}

function lengthOf(node: unknown): number {
  const { range } = node as { readonly range?: readonly number[] | null };
  return (range?.[1] ?? 0) - (range?.[0] ?? 0);
}
