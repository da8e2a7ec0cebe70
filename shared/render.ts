import { stringify } from "csv-stringify/sync";
import { listLeaves } from "#shared/leaves.ts";

/** One value of a result under its path, e.g. `redirects.0.url`. */
export type Line = readonly [path: string, value: string];

/** Lines of one result; a longer one is cut, and a last line says so. */
const MOST_LINES = 50_000;

/** A result as lines, in its own order: objects and arrays become paths, empty ones {} and []. */
export function flatten(data: unknown): Line[] {
  const { leaves, isCut } = listLeaves(data, MOST_LINES);
  const lines = leaves.map(([path, value]): Line => [path, textOf(value)]);
  return isCut ? [...lines, ["truncated", "true"]] : lines;
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
