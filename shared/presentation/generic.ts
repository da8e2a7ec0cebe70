import { existing, fact, oneLine, table } from "#shared/presentation/build.ts";
import type { Fact, Table } from "#shared/presentation/presentation.ts";
import type { Told } from "#shared/presentation/presenter.ts";
import { isRecord } from "#shared/is-record.ts";
import { listFirst } from "#shared/text/list.ts";
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
const MOST_COLUMNS = 6;
const MOST_ITEMS = 8;

/**
 * Presents a result by its fields alone: values as facts, lists of objects as tables. For tools without a presenter,
 * and for results that are older than the contract. `data` can be anything.
 */
export function tellByFields({ title, target }: Contract, data: unknown): Told {
  const fields = isRecord(data) ? Object.entries(data).filter(([name]) => !OMITTED.has(name)) : [];
  const about = target === null || !isRecord(data) ? null : (data[target.echo ?? target.param] ?? null);
  return {
    headline: oneLine(typeof about === "string" ? `${title}: ${about}` : title),
    facts: fields.flatMap(([name, value]) => factsOf(nameField(name), value)).slice(0, MOST_FACTS),
    tables: existing(...fields.map(([name, value]) => tableOf(nameField(name), value))),
  };
}

/** Returns a field's name as a label: final_url is "Final url". */
function nameField(name: string): string {
  const words = oneLine(name.replaceAll("_", " "));
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function factsOf(label: string, value: unknown): readonly Fact[] {
  if (Array.isArray(value)) {
    const items = value.slice(0, MOST_ITEMS).flatMap((item: unknown) => scalar(item) ?? []);
    return items.length === 0 ? [] : existing(fact(label, listFirst(items, MOST_ITEMS, value.length)));
  }
  if (!isRecord(value)) return existing(fact(label, scalar(value)));
  return Object.entries(value).flatMap(([name, one]) =>
    existing(fact(`${label}: ${name.replaceAll("_", " ")}`, scalar(one))),
  );
}

function tableOf(title: string, value: unknown): Table | null {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isRecord)) return null;
  const names = Object.keys(value[0] ?? {}).filter((name) => value.some((row) => scalar(row[name]) !== null));
  const shown = names.slice(0, MOST_COLUMNS);
  return table(
    title,
    shown.map(nameField),
    value.map((row) => shown.map((name) => scalar(row[name]))),
  );
}

function scalar(value: unknown): string | null {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" || typeof value === "number" ? String(value) : null;
}
