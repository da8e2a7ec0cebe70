import { toPlainLine } from "#shared/text/plain-line.ts";

const MOST_CELL = 600;
const MOST_LINES = 100;

/** Returns untrusted text as one printable line, at most 600 characters. */
export function cell(text: string): string {
  return toPlainLine(text, MOST_CELL);
}

/** Returns untrusted text as printable lines: its line breaks stay, up to a hundred. */
export function lines(text: string): string {
  return text
    .split(/\r\n|[\r\n]/, MOST_LINES)
    .map(cell)
    .join("\n");
}

/**
 * Puts rows that begin with a time, as "2026-11-23 02:41:07" or with a zone after it, below headings of their days: each
 * row keeps the time of day.
 */
export function underDays(rows: readonly (readonly string[])[]): readonly (readonly string[])[] {
  let current = "";
  return rows.flatMap(([time = "", ...cells]) => {
    const [date = "", clock = "", zone = ""] = time.split(" ");
    const day = `${date} ${zone}`.trimEnd();
    const heading = day === current ? [] : [[day]];
    current = day;
    return [...heading, [clock, ...cells]];
  });
}

/** Returns a value of a tool's result as a cell; null and undefined are a dash. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return "-";
  return cell(typeof value === "string" ? value : (JSON.stringify(value) ?? "-"));
}
