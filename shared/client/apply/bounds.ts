import { CST, isAlias, isCollection, isMap, isNode, isPair, isScalar, Lexer, Parser, type Document } from "yaml";

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
export function findExcess(text: string): PlacedProblem | null {
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
export function findWrongNames(document: Document): readonly PlacedProblem[] {
  const problems: PlacedProblem[] = [];
  /** Sizes of what anchors name, in characters; null: it has not ended. */
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
export function startOf(node: unknown): number | undefined {
  return (node as { readonly range?: readonly number[] | null } | null | undefined)?.range?.[0];
}

function lengthOf(node: unknown): number {
  const { range } = node as { readonly range?: readonly number[] | null };
  return (range?.[1] ?? 0) - (range?.[0] ?? 0);
}
