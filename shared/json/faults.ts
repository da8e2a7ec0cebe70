/** Why a JSON text of another party is refused although its syntax can be valid. */
type JsonFault =
  | { readonly kind: "deep" }
  /** A key that one object has twice: parsers differ in which value they use. */
  | { readonly kind: "repeated"; readonly key: string }
  | { readonly kind: "banned"; readonly key: string }
  | { readonly kind: "number"; readonly token: string }
  /** More lists and objects than allowed; `key` is that of the whole value which contains one too many; "" if it has none. */
  | { readonly kind: "crowded"; readonly key: string };

/** What is refused besides repeated keys. */
interface JsonRules {
  /** Maximum nesting. Deeper input costs JSON.parse seconds and overflows the stack of recursive code. */
  readonly deepest: number;
  /** A key that no object can have. */
  readonly bannedKey?: string;
  /** Maximum number of lists and objects, which JSON.parse needs most time for. Default: any. */
  readonly mostContainers?: number;
  /** Decides about each number by its characters. */
  readonly acceptsNumber?: (token: string) => boolean;
}

/**
 * Finds the first fault of a JSON text before JSON.parse builds objects; null if there is none. Invalid JSON is left to
 * JSON.parse, or throws its SyntaxError here.
 */
export function findJsonFault(text: string, rules: JsonRules): JsonFault | null {
  const { deepest, bannedKey, mostContainers = Infinity, acceptsNumber } = rules;
  // One entry per open bracket: the keys seen so far in an object, null in an array.
  const open: (Set<string> | null)[] = [];
  let outermost = "";
  let containers = 0;
  let index = 0;
  while (index < text.length) {
    const character = text.charCodeAt(index);
    if (character === QUOTE) {
      const end = endOfString(text, index);
      const keys = open.at(-1);
      if (keys !== null && keys !== undefined && isKey(text, end)) {
        const key = readKey(text.slice(index + 1, end - 1));
        if (key === bannedKey) return { kind: "banned", key };
        if (keys.has(key)) return { kind: "repeated", key };
        keys.add(key);
        if (open.length === 1) outermost = key;
      }
      index = end;
      continue;
    }
    if (acceptsNumber !== undefined && isNumeric(character)) {
      const end = endOfNumber(text, index);
      const token = text.slice(index, end);
      if (!acceptsNumber(token)) return { kind: "number", token };
      index = end;
      continue;
    }
    if (character === OPEN_OBJECT || character === OPEN_ARRAY) {
      if (open.length === deepest) return { kind: "deep" };
      containers += 1;
      if (containers > mostContainers) return { kind: "crowded", key: outermost };
      open.push(character === OPEN_OBJECT ? new Set() : null);
    } else if (character === CLOSE_OBJECT || character === CLOSE_ARRAY) {
      open.pop();
    }
    index += 1;
  }
  return null;
}

const TAB = 9;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const SPACE = 32;
const QUOTE = 34;
const COLON = 58;
const BACKSLASH = 92;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;
const MINUS = 45;
const ZERO = 48;
const NINE = 57;

/** Returns the index after the closing quote of the string at `start`; the end of the text if it is not closed. */
export function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text.charCodeAt(index) !== QUOTE) index += text.charCodeAt(index) === BACKSLASH ? 2 : 1;
  return index + 1;
}

/** Decodes a key. JSON.parse for each of the 100,000 keys that fit into 1 MB would take longer than for the whole text. */
export function readKey(written: string): string {
  return written.includes("\\") ? (JSON.parse(`"${written}"`) as string) : written;
}

/** Reports whether a number begins with this character. */
export function isNumeric(character: number): boolean {
  return character === MINUS || (character >= ZERO && character <= NINE);
}

/** Returns the index after the number at `start`. */
export function endOfNumber(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && "0123456789+-.eE".includes(text.charAt(index))) index += 1;
  return index;
}

/** Reports whether a colon follows: in valid JSON only a key has one. */
export function isKey(text: string, from: number): boolean {
  let index = from;
  while (isSpace(text.charCodeAt(index))) index += 1;
  return text.charCodeAt(index) === COLON;
}

/** Reports whether a character is insignificant whitespace (RFC 8259, section 2). */
function isSpace(character: number): boolean {
  return character === SPACE || character === LINE_FEED || character === TAB || character === CARRIAGE_RETURN;
}
