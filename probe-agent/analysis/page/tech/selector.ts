import { compile, type Options } from "css-select";
import { AttributeAction, parse, SelectorType, type AttributeSelector, type Selector as Token } from "css-what";
import { isTag, isText, type AnyNode, type Element } from "domhandler";
import { DomUtils } from "htmlparser2";

/** Feature that an element needs to match a selector. The page's index finds the elements that have it. */
export interface SelectorKey {
  readonly kind: "tag" | "id" | "class" | "attribute";
  /** Lower case for tags and attributes. */
  readonly name: string;
}

/** One selector of a list. */
interface SelectorPart {
  /** Features that the element itself must have, all of them. */
  readonly keys: readonly SelectorKey[];
  /** Reports whether an element matches, including the ancestors and siblings that the combinators require. */
  matches(this: void, element: Element): boolean;
}

/** A list of selectors. An element matches if it matches one of them. */
export type Selector = readonly SelectorPart[];

const MAX_LENGTH = 2000;
const MAX_COMPOUNDS = 12;
const COMBINATORS: ReadonlySet<SelectorType> = new Set([
  SelectorType.Descendant,
  SelectorType.Child,
  SelectorType.Adjacent,
  SelectorType.Sibling,
]);
/**
 * Pseudo-classes with the same cost on every page. Those that count siblings or search below an element (:nth-child(),
 * :has()) take quadratic time on a hostile page. Those for the state of a browser, such as :hover, match nothing here.
 */
const PLACES: ReadonlySet<string> = new Set(["first-child", "last-child", "only-child", "root", "empty"]);

const OPTIONS: Options<AnyNode, Element> = {
  // The default adapter would find an attribute `constructor` on every element.
  adapter: { ...DomUtils, isTag, getAttributeValue: ownAttribute },
  pseudos: {
    // White space is content, as in browsers. The library's own version follows the draft (Selectors Level 4, section
    // 14.2).
    empty: ({ children }) => !children.some((child) => isTag(child) || isText(child)),
    // The library's own versions walk the siblings from one end, which is quadratic if a page has many comments there.
    "last-child": isLast,
    "only-child": (element) => isLast(element) && DomUtils.prevElementSibling(element) === null,
  },
};

/** Quoted value of an attribute. The rest of the selector must not contain a quote. */
const QUOTED = /=\s*(?:"[^"]*"|'[^']*')/g;
const MISPLACED = /["']|=\s*\]/;
/** A name without escapes. */
const NAME = /^[\w\u0080-\uffff-]+$/;

/**
 * Parses a CSS selector (Selectors Level 4): names, ids, classes, attributes, the four combinators, lists, `:not()` of
 * simple selectors, and the pseudo-classes of PLACES. Returns null if the selector is invalid or not allowed.
 */
export function parseSelector(text: string): Selector | null {
  if (text.length > MAX_LENGTH || MISPLACED.test(text.replaceAll(QUOTED, "=x"))) return null;
  try {
    const list = parse(text);
    const allowed = list.length > 0 && list.every((tokens) => isAllowed(tokens, text.includes("\\")));
    return allowed ? list.map(compilePart) : null;
  } catch {
    // Neither library has its own error class for syntax errors.
    return null;
  }
}

function compilePart(tokens: Token[]): SelectorPart {
  const subject = tokens.slice(tokens.findLastIndex(isCombinator) + 1);
  // Find the keys before compile(), which sorts the tokens.
  const keys = subject.flatMap(keyOf);
  return { keys, matches: compile<AnyNode, Element>([tokens], OPTIONS) };
}

function keyOf(token: Token): SelectorKey[] {
  if (token.type === SelectorType.Tag) return [{ kind: "tag", name: token.name.toLowerCase() }];
  if (token.type !== SelectorType.Attribute) return [];
  if (isExact(token, "id", AttributeAction.Equals)) return [{ kind: "id", name: token.value }];
  if (isExact(token, "class", AttributeAction.Element)) return [{ kind: "class", name: token.value }];
  return [{ kind: "attribute", name: token.name.toLowerCase() }];
}

function isExact({ name, action, ignoreCase }: AttributeSelector, wanted: string, by: AttributeAction): boolean {
  return name.toLowerCase() === wanted && action === by && ignoreCase !== true;
}

/** Reports whether a selector is valid and allowed. css-what accepts many invalid ones: `a >`, `a..b`, `l$ink`. */
function isAllowed(tokens: readonly Token[], hasEscapes: boolean): boolean {
  const compounds = splitAtCombinators(tokens);
  return compounds.length <= MAX_COMPOUNDS && compounds.every((compound) => isCompound(compound, hasEscapes));
}

function splitAtCombinators(tokens: readonly Token[]): Token[][] {
  const compounds: Token[][] = [[]];
  for (const token of tokens) {
    if (isCombinator(token)) compounds.push([]);
    else compounds.at(-1)?.push(token);
  }
  return compounds;
}

function isCombinator({ type }: Token): boolean {
  return COMBINATORS.has(type);
}

function isCompound(tokens: readonly Token[], hasEscapes: boolean): boolean {
  return tokens.length > 0 && tokens.every((token, at) => isSimple(token, at === 0, hasEscapes));
}

function isSimple(token: Token, isFirst: boolean, hasEscapes: boolean): boolean {
  const isName = (name: string): boolean => hasEscapes || NAME.test(name);
  if (token.type === SelectorType.Universal) return isFirst;
  if (token.type === SelectorType.Tag) return isFirst && isName(token.name);
  if (token.type === SelectorType.Attribute) {
    const { action, name, value, ignoreCase } = token;
    // != is not a CSS operator. An empty word matches no list (section 6.1), but css-select finds one.
    if (action === AttributeAction.Not || (action === AttributeAction.Element && value === "")) return false;
    // The value of .class and #id is a name too.
    return isName(ignoreCase === "quirks" ? value : name);
  }
  if (token.type !== SelectorType.Pseudo) return false;
  if (token.data === null) return PLACES.has(token.name);
  return (
    token.name === "not" && Array.isArray(token.data) && token.data.every((inner) => isCompound(inner, hasEscapes))
  );
}

function ownAttribute({ attribs }: Element, name: string): string | undefined {
  return Object.hasOwn(attribs, name) ? attribs[name] : undefined;
}

function isLast(element: Element): boolean {
  return DomUtils.nextElementSibling(element) === null;
}
