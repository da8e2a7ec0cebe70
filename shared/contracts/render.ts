import { stringify } from "csv-stringify/sync";
import { showHidden } from "#shared/text/hidden-characters.ts";
import { listLeaves } from "#shared/text/leaves.ts";

/** One value of a result with its path, e.g. `redirects.0.url`. */
type Line = readonly [path: string, value: string];

/** Maximum number of lines of a result. A longer one is cut, and its last line is `truncated`. */
const MOST_LINES = 50_000;

/** Converts a result to lines in order: objects and arrays become paths, empty ones {} and []. */
export function flatten(data: unknown): Line[] {
  const { leaves, isCut } = listLeaves(data, MOST_LINES);
  const lines = leaves.map(([path, value]): Line => [path, formatValue(value)]);
  return isCut ? [...lines, ["truncated", "true"]] : lines;
}

/** Formats `key: value` lines and a final comment line with the source. */
export function renderText(data: unknown, source: string): string {
  const lines = flatten(data).map(([path, value]) => `${showHidden(path)}: ${showHidden(value)}\n`);
  return `${lines.join("")}# source: ${showHidden(source)}\n`;
}

/**
 * Formats CSV (RFC 4180) with the header key,value. A text that a spreadsheet would run as a formula gets a leading
 * apostrophe, because the target's owner controls it.
 */
export function renderCsv(data: unknown): string {
  const rows = flatten(data).map(([path, value]) => [showHidden(path), escapeFormula(showHidden(value))]);
  return stringify([["key", "value"], ...rows], { record_delimiter: "\r\n" });
}

function formatValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

function escapeFormula(text: string): string {
  return /^[=+\-@]/.test(text) && !/^[+-]?\d+(\.\d+)?$/.test(text) ? `'${text}` : text;
}
