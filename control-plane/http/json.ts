import { isRecord } from "#shared/is-record.ts";

/** A JSON object, or why the text is not one; `field` is the invalid key, if a key is the cause. */
export type JsonObject =
  | { readonly ok: true; readonly value: Record<string, unknown> }
  | {
      readonly ok: false;
      readonly reason: "invalid_json" | "unknown" | "duplicate";
      readonly field?: string;
      readonly message: string;
    };

/** Maximum nesting. Deeper input costs JSON.parse seconds and overflows the stack of recursive code. */
const DEEPEST = 64;

/**
 * Parses a request body: a JSON object in UTF-8. An empty body is {}. In addition to JSON.parse it rejects duplicate
 * keys, because parsers differ in which value they use, and the key `__proto__`.
 */
export function parseJsonObject(bytes: Uint8Array): JsonObject {
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return broken("The body is not valid UTF-8.");
  }
  if (text.trim() === "") return { ok: true, value: {} };
  try {
    const problem = inspectKeys(text);
    if (problem !== null) return problem;
    value = JSON.parse(text);
  } catch {
    return broken("The body is not valid JSON.");
  }
  if (!isRecord(value)) return broken("The body must be a JSON object.");
  return { ok: true, value };
}

/**
 * Checks nesting and keys before JSON.parse builds objects; returns null if they are valid. Invalid JSON is left to
 * JSON.parse, or throws its SyntaxError here.
 */
function inspectKeys(text: string): JsonObject | null {
  // One entry per open bracket: the keys seen so far in an object, null in an array.
  const open: (Set<string> | null)[] = [];
  let index = 0;
  while (index < text.length) {
    const character = text.charCodeAt(index);
    if (character === QUOTE) {
      const end = endOfString(text, index);
      const keys = open.at(-1);
      if (keys !== null && keys !== undefined && isKey(text, end)) {
        const key = JSON.parse(text.slice(index, end)) as string;
        if (key === "__proto__") return { ok: false, reason: "unknown", field: key, message: "Remove this field." };
        if (keys.has(key)) {
          const field = key.slice(0, 200);
          return { ok: false, reason: "duplicate", field, message: `${field} was given twice; give one value.` };
        }
        keys.add(key);
      }
      index = end;
      continue;
    }
    if (character === OPEN_OBJECT || character === OPEN_ARRAY) {
      if (open.length === DEEPEST) return broken(`The body is nested deeper than ${DEEPEST} levels.`);
      open.push(character === OPEN_OBJECT ? new Set() : null);
    } else if (character === CLOSE_OBJECT || character === CLOSE_ARRAY) {
      open.pop();
    }
    index += 1;
  }
  return null;
}

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;

/** Returns the index after the closing quote of the string at `start`; the end of the text if it is not closed. */
function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text.charCodeAt(index) !== QUOTE) index += text.charCodeAt(index) === BACKSLASH ? 2 : 1;
  return index + 1;
}

/** Reports whether a colon follows: in valid JSON only a key has one. */
function isKey(text: string, from: number): boolean {
  let index = from;
  while (/[ \t\r\n]/.test(text.charAt(index))) index += 1;
  return text.charAt(index) === ":";
}

function broken(message: string): JsonObject {
  return { ok: false, reason: "invalid_json", message };
}
