import { withoutControls } from "#shared/text/plain-line.ts";
/** Formats one value on one line. Control characters, which could control a terminal, become spaces. */
export function cell(value: unknown): string {
  const text = typeof value === "string" ? value : value === null || value === undefined ? "-" : JSON.stringify(value);
  return withoutControls(text);
}

/** Formats rows under headings; each column is as wide as its widest cell. */
export function table(rows: readonly unknown[], columns: readonly string[]): string {
  const records = rows.map((row) => row as Readonly<Record<string, unknown>>);
  const lines = [
    columns.map((name) => name.toUpperCase()),
    ...records.map((row) => columns.map((name) => cell(row[name]))),
  ];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((text, index) => text.padEnd(widths[index] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
