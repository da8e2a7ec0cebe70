/** How an attribute is compared (Selectors Level 4, section 6); exists: that it is there. */
export type AttributeOperator = "exists" | "=" | "~=" | "|=" | "^=" | "$=" | "*=";

/** One condition on an attribute. */
export interface AttributeTest {
  readonly name: string;
  readonly operator: AttributeOperator;
  /** In lower case where `ignoreCase`. */
  readonly value: string;
  readonly ignoreCase: boolean;
}

/** All that is asked of one element. */
export interface Compound {
  /** Lower case; null: any. */
  readonly tag: string | null;
  readonly attributes: readonly AttributeTest[];
  /** None of these may fit. */
  readonly not: readonly Compound[];
  readonly place: readonly ("first-child" | "last-child" | "only-child" | "root" | "empty")[];
}

/** How the element on the left stands to the one on the right. */
export type Combinator = " " | ">" | "+" | "~";

/** Compounds from right to left; each but the first with how it stands to the one before. */
export interface ComplexSelector {
  readonly subject: Compound;
  readonly above: readonly { readonly combinator: Combinator; readonly compound: Compound }[];
}

/** Any of its parts fits. */
export type Selector = readonly ComplexSelector[];

const MAX_LENGTH = 2000;
const MAX_COMPOUNDS = 12;
const NAME = /(?:\\.|[\w-]|[\u0080-\uffff])+/y;
const ATTRIBUTE =
  /\[\s*((?:\\.|[\w:-]|[^\p{ASCII}\s])+)\s*(?:([~|^$*]?=)\s*(?:"([^"]*)"|'([^']*)'|([^\s\]"']+))\s*(?:([is])\s*)?)?\]/iuy;
const COMBINATOR = /\s*([>+~])\s*|\s+/y;
const PLACES = ["first-child", "last-child", "only-child", "root", "empty"] as const;

/**
 * Reads a CSS selector: names, ids, classes, attributes, the four combinators, lists, `:not()` of simple ones and a few
 * places. Null for what cannot be read; pseudo-classes that need a browser are among that.
 */
export function parseSelector(text: string): Selector | null {
  if (text.length > MAX_LENGTH) return null;
  const reader = new Reader(text.trim());
  const list: ComplexSelector[] = [];
  do {
    reader.skipSpace();
    const complex = readComplex(reader);
    if (complex === null) return null;
    list.push(complex);
    reader.skipSpace();
  } while (reader.take(","));
  return reader.atEnd() ? list : null;
}

function readComplex(reader: Reader): ComplexSelector | null {
  let subject = readCompound(reader);
  if (subject === null) return null;
  const above: { combinator: Combinator; compound: Compound }[] = [];
  for (let count = 1; count < MAX_COMPOUNDS; count += 1) {
    if (reader.atEnd() || reader.peeks(",")) return { subject, above };
    const combinator = reader.match(COMBINATOR);
    if (combinator === null) return null;
    if (reader.atEnd() || reader.peeks(",")) return combinator[1] === undefined ? { subject, above } : null;
    const next = readCompound(reader);
    if (next === null) return null;
    above.unshift({ combinator: (combinator[1] ?? " ") as Combinator, compound: subject });
    subject = next;
  }
  return null;
}

function readCompound(reader: Reader): Compound | null {
  const start = reader.at;
  const attributes: AttributeTest[] = [];
  const not: Compound[] = [];
  const place: (typeof PLACES)[number][] = [];
  const tag = reader.take("*") ? null : (reader.match(NAME)?.[0] ?? null);
  for (;;) {
    const attribute = reader.match(ATTRIBUTE);
    if (attribute !== null) attributes.push(attributeTest(attribute));
    else if (reader.take(".")) {
      const name = reader.match(NAME)?.[0];
      if (name === undefined) return null;
      attributes.push({ name: "class", operator: "~=", value: unescape(name), ignoreCase: false });
    } else if (reader.take("#")) {
      const name = reader.match(NAME)?.[0];
      if (name === undefined) return null;
      attributes.push({ name: "id", operator: "=", value: unescape(name), ignoreCase: false });
    } else if (reader.take(":not(")) {
      do {
        reader.skipSpace();
        const inner = readCompound(reader);
        if (inner === null) return null;
        not.push(inner);
        reader.skipSpace();
      } while (reader.take(","));
      if (!reader.take(")")) return null;
    } else if (reader.take(":")) {
      const name = reader.match(NAME)?.[0].toLowerCase();
      const known = PLACES.find((one) => one === name);
      if (known === undefined || reader.peeks("(")) return null;
      place.push(known);
    } else break;
  }
  if (reader.at === start) return null;
  return { tag: tag === null ? null : unescape(tag).toLowerCase(), attributes, not, place };
}

function attributeTest([, name = "", operator, double, single, bare, flag]: RegExpExecArray): AttributeTest {
  const ignoreCase = flag?.toLowerCase() === "i";
  const value = double ?? single ?? bare ?? "";
  return {
    name: unescape(name).toLowerCase(),
    operator: (operator ?? "exists") as AttributeOperator,
    value: ignoreCase ? value.toLowerCase() : value,
    ignoreCase,
  };
}

function unescape(name: string): string {
  return name.replaceAll(/\\(.)/g, "$1");
}

/** A place in a text. */
class Reader {
  at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  atEnd(): boolean {
    return this.at >= this.#text.length;
  }

  peeks(token: string): boolean {
    return this.#text.startsWith(token, this.at);
  }

  take(token: string): boolean {
    if (!this.peeks(token)) return false;
    this.at += token.length;
    return true;
  }

  match(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.at;
    const match = expression.exec(this.#text);
    if (match !== null) this.at = expression.lastIndex;
    return match;
  }

  skipSpace(): void {
    while (/\s/.test(this.#text.charAt(this.at))) this.at += 1;
  }
}
