import { stringify } from "csv-stringify/sync";

/** One value of a result under its path, e.g. `redirects.0.url`. */
export type Line = readonly [path: string, value: string];

/** Lines of one result; what is beyond is cut, and said so. */
const MOST_LINES = 50_000;

/** A result as lines, in its own order: objects and arrays become paths, empty ones {} and []. */
export function flatten(data: unknown): Line[] {
  const lines: Line[] = [];
  const waiting: (readonly [path: string, value: unknown])[] = [["", data]];
  while (waiting.length > 0 && lines.length < MOST_LINES) {
    const [path, value] = waiting.pop() as readonly [string, unknown];
    const children = childrenOf(value);
    if (children === null) lines.push([path, textOf(value)]);
    else if (children.length === 0) lines.push([path, Array.isArray(value) ? "[]" : "{}"]);
    else {
      for (const [name, child] of children.toReversed()) waiting.push([path === "" ? name : `${path}.${name}`, child]);
    }
  }
  if (waiting.length > 0) lines.push(["truncated", "true"]);
  return lines;
}

/** `key: value` lines and a last comment line that names the source. */
export function renderText(data: unknown, source: string): string {
  const lines = flatten(data).map(([path, value]) => `${printable(path)}: ${printable(value)}\n`);
  return `${lines.join("")}# source: ${printable(source)}\n`;
}

/**
 * RFC 4180 with the header key,value. A text that a spreadsheet would take for a formula gets an apostrophe before it:
 * it was written by whoever runs the target.
 */
export function renderCsv(data: unknown): string {
  const rows = flatten(data).map(([path, value]) => [printable(path), inert(printable(value))]);
  return stringify([["key", "value"], ...rows], { record_delimiter: "\r\n" });
}

function childrenOf(value: unknown): [string, unknown][] | null {
  if (typeof value !== "object" || value === null) return null;
  return Array.isArray(value) ? value.map((item, index) => [String(index), item]) : Object.entries(value);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

/** Nothing that starts a line or moves a terminal's cursor: control characters as JSON escapes. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, (character) => {
    const known = JSON.stringify(character).slice(1, -1);
    return known === character ? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}` : known;
  });
}

function inert(text: string): string {
  return /^[=+\-@]/.test(text) && !/^[+-]?\d+(\.\d+)?$/.test(text) ? `'${text}` : text;
}
