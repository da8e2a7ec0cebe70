import { Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, visit } from "yaml";

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

/**
 * Maximum number of values that all aliases together add: aliases of aliases could add billions, and each of some thousand
 * rows can take over the settings of another.
 */
const MOST_ALIASED = 100_000;

/**
 * Parses YAML 1.2, of which JSON is a part; a map can take over another with `<<`. Returns every problem of the text, so
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
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true, version: "1.2" });
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    return { ok: false, problems: faults.map(({ message, pos }) => ({ place: placeAt(pos[0]), message })) };
  }
  const unknown = findUnknownAliases(document);
  if (unknown.length > 0) {
    const problems = unknown.map(({ name, offset }) => ({
      place: placeAt(offset),
      message: `no anchor before it is &${name}`,
    }));
    return { ok: false, problems };
  }
  try {
    const value: unknown = document.toJS({ maxAliasCount: MOST_ALIASED });
    return { ok: true, parsed: { value, placeOf: (path) => placeAt(offsetOf(document, path)) } };
  } catch (error) {
    // Too many values of aliases.
    return { ok: false, problems: [{ place: null, message: error instanceof Error ? error.message : "is not YAML" }] };
  }
}

function findUnknownAliases(document: Document): readonly { readonly name: string; readonly offset: number }[] {
  const anchors = new Set<string>();
  const unknown: { readonly name: string; readonly offset: number }[] = [];
  visit(document, {
    Value(_key, { anchor }) {
      if (anchor !== undefined) anchors.add(anchor);
    },
    Alias(_key, alias) {
      if (!anchors.has(alias.source)) unknown.push({ name: alias.source, offset: rangeOf(alias) ?? 0 });
    },
  });
  return unknown;
}

function offsetOf(document: Document, path: Path): number {
  let node: unknown = document.contents;
  let offset = rangeOf(node) ?? 0;
  for (const step of path) {
    if (isAlias(node)) return offset;
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
      if (pair === undefined) return offset;
      offset = rangeOf(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      const item = node.items[Number(step)];
      if (item === undefined) return offset;
      node = item;
      offset = rangeOf(node) ?? offset;
    } else return offset;
  }
  return offset;
}

function rangeOf(node: unknown): number | undefined {
  return (node as { readonly range?: readonly number[] | null } | null | undefined)?.range?.[0];
}

/** A comment before a part of a document, [] for all of it: lines without control characters. */
export interface YamlComment {
  readonly path: Path;
  readonly lines: readonly string[];
}

/**
 * Writes a JSON value as YAML. Strings that readers of YAML 1.1 would take for something else, such as yes, are quoted.
 * The order of names is kept, and lines are not folded.
 */
export function writeYaml(value: unknown, comments: readonly YamlComment[] = []): string {
  const document = new Document(value, { compat: "yaml-1.1", aliasDuplicateObjects: false });
  for (const { path, lines } of comments) {
    const part = path.length === 0 ? document : document.getIn(path, true);
    if (part instanceof Document || isNode(part)) part.commentBefore = lines.map((line) => ` ${line}`).join("\n");
  }
  return document.toString({ lineWidth: 0 });
}
