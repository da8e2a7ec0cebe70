import { showHidden } from "#shared/hidden-characters.ts";
import { isExactNumber } from "#shared/audit/exact-number.ts";
import { findJsonFault } from "#shared/json/faults.ts";

/** Bodies up to this length are indented; an event has a few thousand bytes. */
const LONGEST_INDENTED = 65_536;
/** Maximum nesting of what is indented: the indentation of deep JSON is many times its length. */
const DEEPEST = 32;
const LONGEST_LINE = 2_000;

/** Returns a text of another party as one line of limited length that cannot control a terminal. */
export function safeLine(text: string, longest = LONGEST_LINE): string {
  const shown = showHidden(text.slice(0, longest));
  return text.length > longest ? `${shown} ... (${text.length} characters)` : shown;
}

/**
 * Returns a body as lines that cannot control a terminal: JSON indented, everything else in one line. JSON that is deep,
 * has a key twice or a number that no double holds is not indented, because the printed form would differ from it.
 */
export function safeBody(body: Uint8Array): readonly string[] {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(body);
  if (text === "") return [];
  const value = body.length > LONGEST_INDENTED ? null : readJson(text);
  if (value === null) return [safeLine(text)];
  return JSON.stringify(value.json, null, 2)
    .split("\n")
    .map((line) => showHidden(line));
}

function readJson(text: string): { readonly json: unknown } | null {
  try {
    if (findJsonFault(text, { deepest: DEEPEST, acceptsNumber: isExactNumber }) !== null) return null;
    return { json: JSON.parse(text) };
  } catch {
    return null;
  }
}
