import { isRecord } from "#shared/text/is-record.ts";

/** A row of a list of the document. */
export type Row = Readonly<Record<string, unknown>>;

/** The lists of a document: the names of an export. */
export const LISTS = ["monitors", "status_pages", "maintenance"] as const;
/** Name of a list. */
export type ListName = (typeof LISTS)[number];
/** A list of a document: of an import, or the webhooks, which are written one by one. */
export type RowList = ListName | "webhooks";
/** The rows of a document by list; a list that it does not have is empty. */
type DocumentRows = Readonly<Record<ListName, readonly Row[]>>;

/** Where rows of a list have secrets. */
export interface SecretField {
  readonly path: readonly string[];
  /** The field has values by name; else it is one text. */
  readonly isMap: boolean;
}

/** The secrets of monitors, as SECRET_PLACES of control-plane/outages/kinds/secrets.ts has them, and the body. */
export const SECRET_FIELDS: readonly SecretField[] = [
  { path: ["request_headers"], isMap: true },
  { path: ["body"], isMap: false },
  { path: ["grpc", "metadata"], isMap: true },
  { path: ["tcp", "send"], isMap: false },
  { path: ["tcp", "send_hex"], isMap: false },
  { path: ["websocket", "send"], isMap: false },
];

/** What a value is in the document if the service is to keep its own. */
export const MASK = "****";

/** A secret of a row: its dotted name as in secrets_missing, such as `request_headers.Authorization`. */
interface GivenSecret {
  readonly name: string;
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Returns the secrets of which a row has a value; by default the row is a monitor. */
export function secretsOf(row: Row, fields = SECRET_FIELDS): readonly GivenSecret[] {
  return fields.flatMap(({ path, isMap }) => {
    const value = valueAt(row, path);
    const own = isMap
      ? Object.entries(isRecord(value) ? value : {}).map(([name, one]) => ({ path: [...path, name], value: one }))
      : [{ path, value }];
    const given = own.filter((one) => one.value !== undefined && one.value !== null && one.value !== MASK);
    return given.map((one) => ({ ...one, name: one.path.join(".") }));
  });
}

/** Returns the names of all secrets of a row: with a value, masked, or left out. */
export function secretNamesOf(row: Row): readonly string[] {
  const { secrets_missing: left } = row;
  const masked = SECRET_FIELDS.flatMap(({ path, isMap }) => {
    const value = valueAt(row, path);
    if (!isMap) return value === MASK ? [path.join(".")] : [];
    return Object.entries(isRecord(value) ? value : {}).flatMap(([name, one]) =>
      one === MASK ? [[...path, name].join(".")] : [],
    );
  });
  const named = Array.isArray(left) ? left.filter((one) => typeof one === "string") : [];
  return [...new Set([...secretsOf(row).map(({ name }) => name), ...masked, ...named])];
}

/** Returns the value at a path; undefined: there is none. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inside, name) => (isRecord(inside) && Object.hasOwn(inside, name) ? inside[name] : undefined),
    value,
  );
}

/** Returns a row with another value at a path; undefined removes it. */
export function withValueAt(row: Row, [name = "", ...rest]: readonly string[], value: unknown): Row {
  if (rest.length > 0) {
    const inside = row[name];
    return { ...row, [name]: withValueAt(isRecord(inside) ? inside : {}, rest, value) };
  }
  const { [name]: _gone, ...others } = row;
  return value === undefined ? others : { ...row, [name]: value };
}

/** Returns which row of a list another row is: monitors and webhooks by name, pages by slug, maintenance by title and start. */
export function keyOf(list: RowList, row: Row): string {
  const text = (name: string) => (typeof row[name] === "string" ? row[name].trim() : "");
  if (list === "monitors" || list === "webhooks") return text("name");
  if (list === "status_pages") return text("slug");
  return JSON.stringify([text("title"), timeOf(row["starts_at"]) ?? text("starts_at")]);
}

/** Returns what a row is called in messages. */
export function titleOf(list: ListName, row: Row): string {
  const { name, slug, title, starts_at: start } = row;
  const called = list === "monitors" ? name : list === "status_pages" ? slug : `${String(title)} (${String(start)})`;
  return typeof called === "string" ? called : "";
}

/** Returns the time of an ISO 8601 text in milliseconds; null if it is none. */
function timeOf(value: unknown): number | null {
  const isTime = typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value);
  const time = isTime ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}

/** Returns the rows of a document's value; what is no list of objects has none. */
export function rowsOf(value: unknown): DocumentRows {
  const of = (name: ListName) => {
    const list = isRecord(value) ? value[name] : undefined;
    return Array.isArray(list) ? list.map((row): Row => (isRecord(row) ? row : {})) : [];
  };
  return { monitors: of("monitors"), status_pages: of("status_pages"), maintenance: of("maintenance") };
}
