import { isRawNumber } from "#shared/json/exact.ts";
import { existing, fact, MOST_ROWS, oneLine, table } from "#shared/presentation/build.ts";
import type { Fact, Table } from "#shared/presentation/presentation.ts";
import type { ToolPresentation } from "#shared/tools/define-presenter.ts";
import { isRecord } from "#shared/text/is-record.ts";
import { listFirst } from "#shared/text/list.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";
import type { Contract } from "#shared/tools/define.ts";

/** Fields that say how a result came about, or that are shown in another place. */
const OMITTED: ReadonlySet<string> = new Set([
  "findings",
  "elapsed_ms",
  "observed_at",
  "limitations",
  "source",
  "warnings",
]);
const MOST_FACTS = 30;
const MOST_TABLES = 30;
const MOST_COLUMNS = 6;
const MOST_ITEMS = 8;
/** Maximum number of characters of a field's name. */
const MOST_NAME = 60;

/**
 * Presents a result by its fields alone: values as facts, lists of objects as tables. For tools without a presenter,
 * and for results that are older than the contract. `data` can be anything.
 */
export function tellByFields({ title, target }: Contract, data: unknown): ToolPresentation {
  const fields = isRecord(data) ? Object.entries(data).filter(([name]) => !OMITTED.has(name)) : [];
  const about = target === null || !isRecord(data) ? null : (data[target.echo ?? target.param] ?? null);
  return {
    headline: oneLine(typeof about === "string" ? `${title}: ${about}` : title),
    facts: fields.flatMap(([name, value]) => factsOf(nameField(name), value)).slice(0, MOST_FACTS),
    tables: existing(...fields.map(([name, value]) => tableOf(nameField(name), value))).slice(0, MOST_TABLES),
  };
}

/** Returns a field's name as a label: final_url is "Final url". */
function nameField(name: string): string {
  const words = wordsOf(name);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function wordsOf(name: string): string {
  return toPlainLine(name.replaceAll("_", " "), MOST_NAME);
}

function factsOf(label: string, value: unknown): readonly Fact[] {
  if (Array.isArray(value)) {
    const items = value.slice(0, MOST_ITEMS).flatMap((item: unknown) => scalar(item) ?? []);
    return items.length === 0 ? [] : existing(fact(label, listFirst(items, MOST_ITEMS, value.length)));
  }
  if (!isRecord(value)) return existing(fact(label, scalar(value)));
  return Object.entries(value).flatMap(([name, one]) => existing(fact(`${label}: ${wordsOf(name)}`, scalar(one))));
}

function tableOf(title: string, value: unknown): Table | null {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isRecord)) return null;
  const rows = value.slice(0, MOST_ROWS);
  const names = Array.from(new Set(rows.flatMap((row) => Object.keys(row))));
  const shown = names.filter((name) => rows.some((row) => scalar(row[name]) !== null)).slice(0, MOST_COLUMNS);
  const isNumeric = (name: string): boolean =>
    rows.every((row) => scalar(row[name]) === null || typeof row[name] === "number");
  return table(
    title,
    shown.map((name) => `${isNumeric(name) ? "#" : ""}${nameField(name)}`),
    rows.map((row) => shown.map((name) => scalar(row[name]))),
    value.length,
  );
}

function scalar(value: unknown): string | null {
  if (isRawNumber(value)) return value.rawJSON;
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" || typeof value === "number" ? String(value) : null;
}
