import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";
import type { Finding } from "#shared/contracts/findings.ts";
import { showHidden } from "#shared/text/hidden-characters.ts";
import type { Fact, Presentation, Series, Table, Verdict } from "#shared/presentation/presentation.ts";
import { milliseconds } from "#shared/presentation/values.ts";

/** How a presentation is written for a terminal. */
export interface PlainOptions {
  /**
   * Columns of the terminal; fewer than 30 count as 30. Lines are not longer, but for words that cannot be broken, e.g.
   * a URL.
   */
  readonly width: number;
  /** Returns text in the style of a tone. Absent: without styles. */
  readonly paint?: (text: string, tone: Verdict | "title" | "faint") => string;
}

type Paint = NonNullable<PlainOptions["paint"]>;

/** Between two columns. */
const GAP = "  ";
/** Text is wrapped at this width at least. */
const LEAST_ROOM = 12;
/** A column of text is cut to this width at least, before a table is written as lines; a wide one to more of it. */
const LEAST_COLUMN = 12;
const WIDE_COLUMN = 40;
/** Share of a line that labels of facts can take. */
const MOST_LABEL = 0.6;
const LEAST_WIDTH = 30;
const MOST_BAR = 40;

/**
 * Writes a presentation as lines for people: verdict and headline, findings, facts, bars, tables, and what is only good
 * to know at the end. Hidden characters of its texts are shown as escapes, so that none controls a terminal.
 */
export function writePlain(shown: Presentation, { width, paint = (text) => text }: PlainOptions): string {
  const columns = Math.max(LEAST_WIDTH, width);
  const [urgent, rest] = [true, false].map((isUrgent) =>
    shown.findings.filter(({ severity }) => (severity !== "info") === isUrgent),
  );
  const blocks = [
    writeHeadline(shown, columns, paint),
    writeFindings(urgent ?? [], columns, paint),
    writeFacts(shown.facts, columns, paint),
    ...shown.series.map((series) => writeSeries(series, columns, paint)),
    ...shown.tables.map((table) => writeTable(table, columns, paint)),
    writeFindings(rest ?? [], columns, paint),
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
  const most = Math.min(Math.floor(width * MOST_LABEL), width - GAP.length - LEAST_ROOM);
  const room = Math.min(most, Math.max(0, ...labels.map((label) => stringWidth(label))));
  return facts
    .map(({ value, unit, tone }, index) => {
      const text = showHidden(unit === undefined ? value : `${value} ${unit}`);
      return hang(`${fill(labels[index] ?? "", room)}${GAP}`, tone === undefined ? text : paint(text, tone), width);
    })
    .join("\n");
}

function writeSeries({ title, unit, bars }: Series, width: number, paint: Paint): string {
  const labels = bars.map(({ label }) => showHidden(label));
  const values = bars.map(({ length }) => `${milliseconds(length)} ${unit}`);
  const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map((text) => stringWidth(text)));
  const labelRoom = Math.min(widest(labels), Math.floor(width / 2));
  const valueRoom = widest(values);
  const room = Math.min(MOST_BAR, width - labelRoom - valueRoom - 2 * GAP.length);
  const end = Math.max(...bars.map(({ start, length }) => start + length));
  const lines = bars.map(({ start, length, tone }, index) => {
    const line = `${fill(labels[index] ?? "", labelRoom)}${GAP}${(values[index] ?? "").padStart(valueRoom)}`;
    if (room < 8 || end <= 0) return line;
    const from = Math.max(0, Math.min(room - 1, Math.floor((start / end) * room)));
    const bar = "█".repeat(Math.max(1, Math.round((length / end) * room)));
    return `${line}${GAP}${" ".repeat(from)}${paint(bar.slice(0, room - from), tone ?? "neutral")}`;
  });
  return [writeTitle(title, width, paint), ...lines].join("\n");
}

function writeTitle(title: string, width: number, paint: Paint): string {
  return hang("", paint(showHidden(title), "title"), width);
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
  if (fitted === null) return [writeTitle(title, width, paint), ...asLines(heads, cells, width), ...end].join("\n");
  const line = (texts: readonly string[]): string =>
    fitted
      .map((room, index) => {
        const text = texts[index] ?? "";
        return columns[index]?.numeric ? " ".repeat(room - stringWidth(text)) + text : fill(text, room);
      })
      .join(GAP)
      .trimEnd();
  return [
    writeTitle(title, width, paint),
    paint(line(heads), "faint"),
    ...rows.map(({ tone }, index) => {
      const text = line(cells[index] ?? []);
      return tone === undefined ? text : paint(text, tone);
    }),
    ...end,
  ].join("\n");
}

/**
 * Returns the widths of columns so that the table fits; null if it does not. Columns of text shrink: the widest first while
 * they are wide, then one after the other, so that few of them are cut. Of each text as much is left as can be understood.
 */
function fit(widths: readonly number[], numeric: readonly boolean[], width: number): readonly number[] | null {
  const fitted = [...widths];
  const order = Array.from(widths.keys())
    .filter((index) => numeric[index] !== true)
    .toSorted((one, other) => (widths[other] ?? 0) - (widths[one] ?? 0));
  let excess = widths.reduce((sum, one) => sum + one, 0) + GAP.length * (widths.length - 1) - width;
  const shrink = (index: number, least: number): void => {
    const by = Math.max(0, Math.min(excess, (fitted[index] ?? 0) - least));
    fitted[index] = (fitted[index] ?? 0) - by;
    excess -= by;
  };
  for (let level = widths[order[0] ?? 0] ?? 0; level > WIDE_COLUMN; level -= 1)
    for (const index of order) shrink(index, level - 1);
  for (const index of order) shrink(index, leastOf(widths[index] ?? 0));
  return excess > 0 ? null : fitted;
}

/** Returns the columns that a text of some columns needs at least: half of them, or enough for the start of a sentence. */
function leastOf(columns: number): number {
  return Math.max(LEAST_COLUMN, Math.min(WIDE_COLUMN, Math.ceil(columns / 2)));
}

/** Writes each row as lines of head and cell, for a table that is too wide. */
function asLines(heads: readonly string[], cells: readonly (readonly string[])[], width: number): readonly string[] {
  return cells.flatMap((row) =>
    row
      .flatMap((text, index) => (text === "" ? [] : [`${heads[index] ?? ""}: ${text}`]))
      .map((line, index) => hang(index === 0 ? "- " : "  ", line, width)),
  );
}

/** Characters after each of which a line can end. */
const WITHOUT_SPACES =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Emoji_Presentation}]/u;

/** Writes text after a prefix and wraps it. The next lines begin below the text. */
function hang(prefix: string, text: string, width: number): string {
  const indent = stringWidth(prefix);
  const hard = text.split(" ").some((word) => WITHOUT_SPACES.test(word) && !word.includes("://"));
  const [first = "", ...rest] = wrapAnsi(text, Math.max(LEAST_ROOM, width - indent), { hard }).split("\n");
  return [prefix + first, ...rest.map((line) => " ".repeat(indent) + line)].join("\n").trimEnd();
}

/** Cuts or pads text to exactly a number of columns. */
function fill(text: string, room: number): string {
  const kept = cut(text, room);
  return kept + " ".repeat(Math.max(0, room - stringWidth(kept)));
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
