import { valueAt, type Row } from "#shared/client/apply/document.ts";
import type { PropertyChange } from "#shared/client/apply/plan.ts";
import { findOwn, MASK, maskedUrl, nameOf, type OwnWebhook } from "#shared/client/apply/webhooks/rows.ts";
import { USAGE } from "#shared/client/exit-codes.ts";
import { isRecord } from "#shared/text/is-record.ts";
import { toCanonicalJson } from "#shared/json/canonical.ts";

/** A problem of a row of webhooks. */
export interface WebhookProblem {
  readonly index: number;
  /** Dotted path in the row; null: the whole row. */
  readonly field: string | null;
  /** Without the field. */
  readonly message: string;
  /** Exit status of the command. */
  readonly exit: number;
}

type Refuse = (field: string, message: string) => void;

/** A row of webhooks beside what the account has. */
export interface PlannedWebhook {
  readonly index: number;
  readonly title: string;
  readonly row: Row;
  /** Its webhook; null if it is a new one. */
  readonly own: OwnWebhook | null;
  readonly changes: readonly PropertyChange[];
}

/** What an apply does with webhooks. */
export interface WebhookPlan {
  readonly created: readonly PlannedWebhook[];
  /** Before the service is asked: rows that are not written as the account has them. */
  readonly changed: readonly PlannedWebhook[];
  readonly unchanged: readonly PlannedWebhook[];
  readonly deleted: readonly OwnWebhook[];
  readonly problems: readonly WebhookProblem[];
  /** Number of webhooks that the account has. */
  readonly present: number;
}

/** With what rows are compared. */
interface Account {
  readonly own: readonly OwnWebhook[];
  /** Names of monitors that a filter can name. */
  readonly monitors: ReadonlySet<string>;
  /** The owner of the document, if what it has made and the document does not have is deleted; null if nothing is. */
  readonly pruned: string | null;
}

/** A masked secret, as the service shows it. */
const MASKED_SECRET = /^(?:whsec_)?\*{4}.{0,4}$/;

/** Compares rows of webhooks, which are checked, with the account. A property that a row does not have stays as it is. */
export function planWebhooks(rows: readonly Row[], { own, monitors, pruned }: Account): WebhookPlan {
  const problems: WebhookProblem[] = [];
  const planned: PlannedWebhook[] = [];
  const kept = new Set<number>();
  for (const [index, row] of rows.entries()) {
    const title = nameOf(row["name"]);
    const found = findOwn(own, title);
    const refuse = (field: string, message: string) => void problems.push({ index, field, message, exit: USAGE });
    if (found === null) {
      const titles = own.filter(({ name }) => name === title).map((one) => one.title);
      refuse("name", `several webhooks of your account have this name; use ${titles.join(" or ")}`);
      continue;
    }
    if (found !== undefined && kept.has(found.id)) refuse("name", "another row means the same webhook");
    if (found !== undefined) kept.add(found.id);
    findUnknownNames(row, monitors, refuse);
    findMasks(row, found ?? null, refuse);
    planned.push({ index, title, row, own: found ?? null, changes: [] });
  }
  const deleted = pruned === null ? [] : own.filter(({ id, managedBy }) => managedBy === pruned && !kept.has(id));
  return {
    created: planned.filter((one) => one.own === null),
    changed: planned.filter((one) => one.own !== null && !isUnchanged(one)),
    unchanged: planned.filter(isUnchanged),
    deleted,
    problems,
    present: own.length,
  };
}

function findUnknownNames({ filter }: Row, monitors: ReadonlySet<string>, refuse: Refuse): void {
  for (const [place, name] of monitorsOf(filter).entries()) {
    if (monitors.has(name)) continue;
    const message = "no row of the document and no monitor of your account has this name";
    refuse(`filter.monitors.${place}`, message);
  }
}

/** Refuses masks in whose place the account has no value. */
function findMasks(row: Row, own: OwnWebhook | null, refuse: Refuse): void {
  const explain = "is masked, and your account has no value for it; give it as a text, {env: NAME} or {file: path}";
  const { url, secret } = row;
  const isOwnUrl = own !== null && url === maskedUrl(own.row);
  if (typeof url === "string" && url.includes(MASK) && !isOwnUrl) refuse("url", explain);
  const isOwnSecret = own !== null && secret === own.shownSecret;
  if (typeof secret === "string" && MASKED_SECRET.test(secret) && !isOwnSecret) refuse("secret", explain);
  const isOtherFormat = own === null || (row["format"] ?? own.row["format"]) !== own.row["format"];
  const isMoved = own !== null && !isOwnUrl && isOtherOrigin(url, own.row["url"]);
  const stays =
    "is masked, and the url leads to another origin, which does not get the stored value; give it as a text";
  for (const field of ["headers", "format_options"] as const) {
    const present = field === "format_options" && isOtherFormat ? {} : valuesOf(own?.row ?? {}, field);
    const names = new Set(Object.keys(present).map((name) => keyOf(field, name)));
    for (const [name, value] of Object.entries(valuesOf(row, field))) {
      if (value !== MASK) continue;
      if (!names.has(keyOf(field, name))) refuse(`${field}.${name}`, explain);
      else if (isMoved) refuse(`${field}.${name}`, `${stays}, {env: NAME} or {file: path}`);
    }
  }
}

/** Reports whether an address leads to another origin. One that is no URL is refused by the service. */
function isOtherOrigin(url: unknown, present: unknown): boolean {
  const origin = typeof url === "string" ? URL.parse(url.trim())?.origin : undefined;
  return origin !== undefined && origin !== URL.parse(String(present))?.origin;
}

function isUnchanged({ row, own }: PlannedWebhook): boolean {
  return own !== null && Object.keys(fieldsToSend(row, own)).length === 0;
}

/** Returns the fields of a row that are not as an export shows them: only the service knows whether they differ. */
function fieldsToSend({ name: _name, ...row }: Row, { row: present, shownSecret }: OwnWebhook): Row {
  const shown: Row = { ...present, secret: shownSecret };
  const isShown = (field: string, value: unknown) =>
    toCanonicalJson(comparable(value)) === toCanonicalJson(comparable(shown[field])) ||
    (field === "url" && value === maskedUrl(present));
  return Object.fromEntries(Object.entries(row).filter(([field, value]) => !isShown(field, value)));
}

/** Lists are sets, an empty one is none, and options can be numbers. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return [...new Set(value.map(String))].toSorted();
  if (typeof value === "number") return String(value);
  if (!isRecord(value)) return value ?? null;
  const members = Object.entries(value).filter(([, one]) => !Array.isArray(one) || one.length > 0);
  return Object.fromEntries(members.map(([name, one]) => [name, comparable(one)]));
}

/** Returns the changes of a row by the names of the fields that differ for the service; those of the row in its order. */
export function describeChanges(
  row: Row,
  { row: present }: OwnWebhook,
  names: readonly string[],
): readonly PropertyChange[] {
  const differing = new Map(names.map((name) => [name.toLowerCase(), name]));
  const take = (field: string) => differing.delete(field.toLowerCase());
  const changes = Object.entries(row).flatMap(([field, after]): readonly PropertyChange[] => {
    if (field === "headers" || field === "format_options") {
      const shown = new Map(
        Object.entries(valuesOf(present, field)).map(([name, value]) => [keyOf(field, name), value]),
      );
      return Object.entries(valuesOf(row, field)).flatMap(([name, value]) =>
        take(`${field}.${name}`) ? [compareValue(`${field}.${name}`, shown.get(keyOf(field, name)), value)] : [],
      );
    }
    if (!take(field)) return [];
    if (field === "url") return [compareUrl(row, present)];
    return [field === "secret" ? { field, secret: "changed" } : { field, before: present[field], after }];
  });
  // What the row leaves out of an object, the options of the format before, and the secrets of another origin.
  const removed = [...differing.values()].map((name) => spelledAs(name, present));
  return [...changes, ...removed.map((field) => ({ field, secret: "removed" as const }))];
}

/** A value that the account shows is compared, another one is secret. */
function compareValue(field: string, before: unknown, after: unknown): PropertyChange {
  if (before === undefined) return { field, secret: "set" };
  return before === MASK ? { field, secret: "changed" } : { field, before, after };
}

/** Returns the name of a header field as the account has it. */
function spelledAs(name: string, present: Row): string {
  const own = Object.keys(valuesOf(present, "headers")).map((one) => `headers.${one}`);
  return own.find((one) => one.toLowerCase() === name.toLowerCase()) ?? name;
}

/** An address that others see masked is a secret. */
function compareUrl(row: Row, present: Row): PropertyChange {
  const before = maskedUrl(present);
  const after = maskedUrl({ url: row["url"], format: row["format"] ?? present["format"] });
  if (before.includes(MASK) || after.includes(MASK)) return { field: "url", secret: "changed" };
  return { field: "url", before: present["url"], after: row["url"] };
}

/** Names of header fields have no case. */
function keyOf(field: string, name: string): string {
  return field === "headers" ? name.toLowerCase() : name;
}

function valuesOf(row: Row, field: string): Row {
  const value = valueAt(row, [field]);
  return isRecord(value) ? value : {};
}

/** Returns the names of monitors of a filter. */
export function monitorsOf(filter: unknown): readonly string[] {
  const names = valueAt(filter, ["monitors"]);
  return Array.isArray(names) ? names.map(nameOf) : [];
}

/**
 * Returns the body of a write. A change has what it can change alone. `idOf`: ids of monitors by their names; undefined: one
 * that is made by the same apply, and is left out as long as the write is only tried.
 */
export function bodyOf(
  { row, own }: Pick<PlannedWebhook, "row" | "own">,
  owner: string | null,
  idOf: (name: string) => number | undefined,
): Row {
  const { filter, ...body } = own === null ? row : fieldsToSend(row, own);
  const isOwner = own === null && owner !== null;
  return { ...body, ...filterOf(filter, idOf), ...(isOwner ? { managed_by: owner } : {}) };
}

function filterOf(filter: unknown, idOf: (name: string) => number | undefined): Row {
  if (filter === undefined) return {};
  if (!isRecord(filter)) return { filter };
  const names = monitorsOf(filter);
  const ids = names.flatMap((name) => idOf(name) ?? []);
  const { monitors: _names, ...rest } = filter;
  const tags = rest["tags"];
  const isWaiting = names.length > 0 && ids.length === 0 && (!Array.isArray(tags) || tags.length === 0);
  return isWaiting ? {} : { filter: { ...rest, monitor_ids: ids } };
}
