import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";
import type { Finding } from "#shared/findings.ts";
import { showHidden } from "#shared/hidden-characters.ts";
import type { Fact, Presentation, Series, Table, Verdict } from "#shared/presentation/presentation.ts";
import { milliseconds } from "#shared/presentation/values.ts";

/** How a presentation is written for a terminal. */
export interface PlainOptions {
  /** Columns of the terminal. Lines are not longer, but for words that cannot be broken, e.g. a URL. */
  readonly width: number;
  /** Returns text in the style of a tone. Absent: without styles. */
  readonly paint?: (text: string, tone: Verdict | "title" | "faint") => string;
}

type Paint = NonNullable<PlainOptions["paint"]>;

/** Between two columns. */
const GAP = "  ";
/** A column of text is cut to this width at least, before a table is written as lines. */
const LEAST_COLUMN = 12;
const LEAST_WIDTH = 30;
const MOST_BAR = 40;

/**
 * Writes a presentation as lines for people: verdict and headline, findings, facts, bars, tables. Hidden characters of
 * its texts are shown as escapes, so that none controls a terminal.
 */
export function writePlain(shown: Presentation, { width, paint = (text) => text }: PlainOptions): string {
  const columns = Math.max(LEAST_WIDTH, width);
  const blocks = [
    writeHeadline(shown, columns, paint),
    writeFindings(shown.findings, columns, paint),
    writeFacts(shown.facts, columns, paint),
    ...shown.series.map((series) => writeSeries(series, columns, paint)),
    ...shown.tables.map((table) => writeTable(table, columns, paint)),
  ];
  return blocks.filter((block) => block !== "").join("\n\n");
}

function writeHeadline({ verdict, headline }: Presentation, width: number, paint: Paint): string {
  const mark = verdict === "neutral" ? "" : `${paint(verdict.toUpperCase(), verdict)}${GAP}`;
  return hang(mark, paint(showHidden(headline), "title"), width);
}

function writeFindings(findings: readonly Finding[], width: number, paint: Paint): string {
  const tones = { critical: "bad", warning: "warning", info: "neutral" } as const;
  return findings
    .flatMap(({ severity, message, how, reference, where }) => [
      hang(
        `${paint(severity.padEnd(8), tones[severity])}${GAP}`,
        showHidden(where === null ? message : `${message} (${where})`),
        width,
      ),
      ...(how === null ? [] : [hang(`${" ".repeat(8)}${GAP}`, `Fix: ${showHidden(how)}`, width)]),
      ...(reference === null ? [] : [hang(`${" ".repeat(8)}${GAP}`, paint(showHidden(reference), "faint"), width)]),
    ])
    .join("\n");
}

function writeFacts(facts: readonly Fact[], width: number, paint: Paint): string {
  const labels = facts.map(({ label }) => showHidden(label));
  const room = Math.min(Math.floor(width / 2), Math.max(0, ...labels.map((label) => stringWidth(label))));
  return facts
    .map(({ value, unit, tone }, index) => {
      const text = showHidden(unit === undefined ? value : `${value} ${unit}`);
      return hang(`${pad(labels[index] ?? "", room)}${GAP}`, tone === undefined ? text : paint(text, tone), width);
    })
    .join("\n");
}

function writeSeries({ title, unit, bars }: Series, width: number, paint: Paint): string {
  const labels = bars.map(({ label }) => showHidden(label));
  const values = bars.map(({ length }) => `${milliseconds(length)} ${unit}`);
  const [labelRoom, valueRoom] = [labels, values].map((texts) =>
    Math.max(...texts.map((text) => stringWidth(text))),
  ) as [number, number];
  const room = Math.min(MOST_BAR, width - labelRoom - valueRoom - 2 * GAP.length);
  const end = Math.max(...bars.map(({ start, length }) => start + length));
  const lines = bars.map(({ start, length, tone }, index) => {
    const line = `${pad(labels[index] ?? "", labelRoom)}${GAP}${(values[index] ?? "").padStart(valueRoom)}`;
    if (room < 8 || end <= 0) return line;
    const from = Math.min(room - 1, Math.floor((start / end) * room));
    const bar = "█".repeat(Math.max(1, Math.round((length / end) * room)));
    return `${line}${GAP}${" ".repeat(from)}${paint(bar.slice(0, room - from), tone ?? "neutral")}`;
  });
  return [paint(showHidden(title), "title"), ...lines].join("\n");
}

function writeTable({ title, columns, rows, more }: Table, width: number, paint: Paint): string {
  const heads = columns.map(({ label }) => showHidden(label));
  const cells = rows.map((row) => row.cells.map(showHidden));
  const widths = heads.map((head, index) =>
    Math.max(stringWidth(head), ...cells.map((row) => stringWidth(row[index] ?? ""))),
  );
  const fitted = fit(
    widths,
    columns.map(({ numeric }) => numeric === true),
    width,
  );
  const end = more === 0 ? [] : [paint(`and ${more} more`, "faint")];
  if (fitted === null) return [paint(showHidden(title), "title"), ...asLines(heads, cells, width), ...end].join("\n");
  const line = (texts: readonly string[]): string =>
    fitted
      .map((room, index) => {
        const text = cut(texts[index] ?? "", room);
        return columns[index]?.numeric ? " ".repeat(room - stringWidth(text)) + text : pad(text, room);
      })
      .join(GAP)
      .trimEnd();
  return [
    paint(showHidden(title), "title"),
    paint(line(heads), "faint"),
    ...rows.map(({ tone }, index) => {
      const text = line(cells[index] ?? []);
      return tone === undefined ? text : paint(text, tone);
    }),
    ...end,
  ].join("\n");
}

/**
 * Returns the widths of columns so that the table fits: the widest columns of text shrink first. Null if it does not fit.
 */
function fit(widths: readonly number[], numeric: readonly boolean[], width: number): readonly number[] | null {
  const fitted = [...widths];
  let excess = widths.reduce((sum, one) => sum + one, 0) + GAP.length * (widths.length - 1) - width;
  while (excess > 0) {
    const [widest, room] = fitted.reduce<readonly [number, number]>(
      (best, one, index) => (numeric[index] !== true && one > best[1] ? [index, one] : best),
      [-1, LEAST_COLUMN],
    );
    if (widest === -1) return null;
    fitted[widest] = room - 1;
    excess -= 1;
  }
  return fitted;
}

/** Writes each row as lines of head and cell, for a table that is too wide. */
function asLines(heads: readonly string[], cells: readonly (readonly string[])[], width: number): readonly string[] {
  return cells.flatMap((row) =>
    row
      .flatMap((text, index) => (text === "" ? [] : [`${heads[index] ?? ""}: ${text}`]))
      .map((line, index) => hang(index === 0 ? "- " : "  ", line, width)),
  );
}

/** Writes text after a prefix and wraps it. The next lines begin below the text. */
function hang(prefix: string, text: string, width: number): string {
  const indent = stringWidth(prefix);
  const [first = "", ...rest] = wrapAnsi(text, Math.max(LEAST_COLUMN, width - indent)).split("\n");
  return [prefix + first, ...rest.map((line) => " ".repeat(indent) + line)].join("\n").trimEnd();
}

function pad(text: string, room: number): string {
  return text + " ".repeat(Math.max(0, room - stringWidth(text)));
}

/** Cuts text to a number of columns of the terminal, the ellipsis included. */
function cut(text: string, room: number): string {
  if (stringWidth(text) <= room) return text;
  let kept = "";
  let width = 0;
  for (const character of text) {
    width += stringWidth(character);
    if (width > room - 1) break;
    kept += character;
  }
  return `${kept}…`;
}
