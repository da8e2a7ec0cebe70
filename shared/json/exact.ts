import { endOfNumber, endOfString, isKey, isNumeric, readKey } from "#shared/json/faults.ts";

/**
 * A number of a JSON text that a JavaScript number cannot hold, with its digits: JSON.stringify writes it as it was. It is
 * not a JSON object (isRecord), and loses its nature in a structured clone: other threads get texts.
 */
interface RawNumber {
  readonly rawJSON: string;
}

/** A number with all of its digits. */
export type ExactNumber = number | RawNumber;

/** What TypeScript's library lacks: tc39.es/proposal-json-parse-with-source, in V8 since 11.4. */
const raw = JSON as unknown as {
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
};

/** Reports whether a value is a number with its digits. */
export function isRawNumber(value: unknown): value is RawNumber {
  return raw.isRawJSON(value);
}

/** Reports whether a value is a number of either form. */
export function isExactNumber(value: unknown): value is ExactNumber {
  return typeof value === "number" || isRawNumber(value);
}

/** A number as JSON writes it (RFC 8259, section 6). */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Reads a number of JSON: a JavaScript number if that has the same value, else the digits; null if the text is none. */
export function toExactNumber(text: string): ExactNumber | null {
  if (!NUMBER.test(text)) return null;
  const number = Number(text);
  return Number.isFinite(number) && order(decimalOf(text), decimalOf(String(number))) === 0
    ? number
    : raw.rawJSON(text);
}

/** Returns a negative number, zero or a positive one: how two numbers compare as decimals. */
export function compareNumbers(one: ExactNumber, other: ExactNumber): number {
  if (typeof one === "number" && typeof other === "number") return one < other ? -1 : one > other ? 1 : 0;
  return order(decimalOf(textOf(one)), decimalOf(textOf(other)));
}

/** Rounds to the nearest JavaScript number, which is infinite beyond 1.8e308. */
export function roundNumber(number: ExactNumber): number {
  return Number(textOf(number));
}

function textOf(number: ExactNumber): string {
  return typeof number === "number" ? String(number) : number.rawJSON;
}

/** A decimal number: sign × 0.digits × 10^exponent, digits without zeros at both ends; zero has no digits. */
interface Decimal {
  readonly sign: 1 | -1;
  readonly digits: string;
  readonly exponent: number;
}

function decimalOf(text: string): Decimal {
  const [mantissa = "", power = "0"] = text.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.replace("-", "").split(".");
  const digits = whole + fraction;
  let from = 0;
  while (digits[from] === "0") from += 1;
  let to = digits.length;
  while (to > from && digits[to - 1] === "0") to -= 1;
  if (from === to) return { sign: 1, digits: "", exponent: 0 };
  const sign = mantissa.startsWith("-") ? -1 : 1;
  return { sign, digits: digits.slice(from, to), exponent: whole.length - from + Number(power) };
}

function order(one: Decimal, other: Decimal): number {
  const [a, b] = [weigh(one), weigh(other)];
  if (a !== b) return a - b;
  const larger = one.exponent === other.exponent ? (one.digits < other.digits ? -1 : 1) : one.exponent - other.exponent;
  return one.exponent === other.exponent && one.digits === other.digits ? 0 : a * larger;
}

/** -1, 0 or 1: below, at or above zero. */
function weigh({ sign, digits }: Decimal): number {
  return digits === "" ? 0 : sign;
}

/** Numbers of fewer characters are exact in a JavaScript number, if they have no exponent. */
const LONG = /[\d.]{16}|\d[eE]/;

/**
 * Parses JSON so that no number loses a digit. Throws SyntaxError for other text. `key`: other members stay JavaScript
 * numbers. JSON.parse with a function for each value takes ten times as long: here only long numbers are put in their
 * places.
 */
export function parseExact(text: string, key?: string): unknown {
  const parsed: unknown = JSON.parse(text);
  if (!LONG.test(text)) return parsed;
  let root = parsed;
  for (const { path, token } of longNumbers(text, key)) {
    const number = toExactNumber(token);
    if (!isRawNumber(number)) continue;
    const last = path.at(-1);
    if (last === undefined) root = number;
    else {
      const holder = path.slice(0, -1).reduce((inside, step) => inside[step] as Holder, parsed as Holder);
      // As JSON.parse does: also a member named __proto__ is one of its own.
      Object.defineProperty(holder, last, { value: number, writable: true, enumerable: true, configurable: true });
    }
  }
  return root;
}

type Holder = Record<string | number, unknown>;

const COMMA = 44;
const OPENERS = new Map<number, string | number>([
  [123, ""],
  [91, 0],
]);
const CLOSERS: ReadonlySet<number> = new Set([125, 93]);

/** Finds long numbers in valid JSON: names of members and indexes of items that lead to each, and its characters. */
function* longNumbers(text: string, key: string | undefined): Generator<{ path: (string | number)[]; token: string }> {
  const path: (string | number)[] = [];
  for (let index = 0; index < text.length;) {
    const character = text.charCodeAt(index);
    const last = path.length - 1;
    let end = index + 1;
    if (character === 34) {
      end = endOfString(text, index);
      if (typeof path[last] === "string" && isKey(text, end)) path[last] = readKey(text.slice(index + 1, end - 1));
    } else if (isNumeric(character)) {
      end = endOfNumber(text, index);
      const token = text.slice(index, end);
      if ((key === undefined || path[last] === key) && LONG.test(token)) yield { path: [...path], token };
    } else if (character === COMMA) {
      const at = path[last];
      if (typeof at === "number") path[last] = at + 1;
    } else if (CLOSERS.has(character)) {
      path.pop();
    } else {
      const first = OPENERS.get(character);
      if (first !== undefined) path.push(first);
    }
    index = end;
  }
}
