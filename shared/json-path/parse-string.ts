import type { Cursor } from "#shared/json-path/cursor.ts";

const ESCAPED: Readonly<Record<string, string>> = {
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  "/": "/",
  "\\": "\\",
};

/** Reads a string in single or double quotes; null if no quote is next. */
export function parseString(cursor: Cursor): string | null {
  const quote = cursor.skip('"') ? '"' : cursor.skip("'") ? "'" : null;
  if (quote === null) return null;
  let text = "";
  for (;;) {
    const character = cursor.character();
    if (character === quote) break;
    if (character === "\\") text += parseEscape(cursor, quote);
    else if (character < " ") cursor.fail("a string contains a control character");
    else text += character;
  }
  if (!text.isWellFormed()) cursor.fail("a string contains half of a surrogate pair");
  return text;
}

function parseEscape(cursor: Cursor, quote: string): string {
  const character = cursor.character();
  if (character === quote) return quote;
  if (character !== "u") return ESCAPED[character] ?? cursor.fail(`\\${character} is no escape sequence`);
  const unit = parseHex(cursor);
  const isHigh = unit >= 0xd800 && unit < 0xdc00;
  if (!isHigh) return String.fromCharCode(unit);
  cursor.expect("\\u");
  return String.fromCharCode(unit, parseHex(cursor));
}

function parseHex(cursor: Cursor): number {
  let value = 0;
  for (let count = 0; count < 4; count += 1) {
    const digit = "0123456789abcdef".indexOf(cursor.character().toLowerCase());
    if (digit === -1) cursor.fail("\\u needs four hexadecimal digits");
    value = value * 16 + digit;
  }
  return value;
}
