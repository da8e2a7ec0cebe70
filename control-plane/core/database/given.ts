import type { Queryable, SqlFragment } from "#control-plane/core/database/connect.ts";

/** The types of columns, each with the values that it takes. */
interface Values {
  readonly text: string;
  readonly smallint: number;
  readonly integer: number;
  readonly bigint: number;
  readonly float8: number;
  readonly boolean: boolean;
  readonly bytea: Uint8Array;
  /** A number is milliseconds since the epoch. */
  readonly timestamptz: Date | number;
  /** Anything that JSON.stringify writes. Null is the SQL null. */
  readonly json: unknown;
}

type Types = Readonly<Record<string, keyof Values>>;

type Row<T extends Types> = { readonly [Column in keyof T]: Values[T[Column]] | null };

/**
 * Returns rows as a table for the FROM clause of a statement: unnest(...) as given (...). `types` has a column for each
 * property of the rows that the statement reads; `monitorId` becomes `monitor_id`. `as` is another name of the table, and
 * `ordinality` the name of a last column that numbers the rows from 1.
 *
 * Each column is one parameter, the literal of an array, so that the statement stays the same, and prepared, whatever
 * rows it is given. postgres.js 3.4.9 would take the type of an array from its first element, and send arrays of
 * booleans, times and bytes as a single value of that type.
 */
export function given<const T extends Types>(
  sql: Queryable,
  rows: readonly NoInfer<Row<T>>[],
  types: T,
  { as = "given", ordinality }: { readonly as?: string; readonly ordinality?: string } = {},
): SqlFragment {
  const columns = Object.entries(types);
  const names = columns.map(([name]) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  const end =
    ordinality === undefined
      ? ` as ${as} (${names.join(", ")})`
      : ` with ordinality as ${as} (${[...names, ordinality].join(", ")})`;
  const casts = columns.map(([, type], at) => `::${type}[]${at === columns.length - 1 ? `)${end}` : ", "}`);
  const lists = columns.map(([name, type]) =>
    arrayOf(
      type,
      rows.map((row) => row[name]),
      name,
    ),
  );
  return sql(template(["unnest(", ...casts]), ...lists);
}

/** The templates by their text. postgres.js keeps something for each that it has ever seen. */
const templates = new Map<string, TemplateStringsArray>();

function template(parts: readonly string[]): TemplateStringsArray {
  const text = parts.join("$");
  const known = templates.get(text);
  if (known !== undefined) return known;
  const made = Object.assign([...parts], { raw: parts });
  templates.set(text, made);
  return made;
}

/** Writes values as elements of an array literal (PostgreSQL documentation, section 8.15.2). */
const ELEMENTS: { readonly [Type in keyof Values]: (value: Values[Type]) => string } = {
  text: quote,
  smallint: String,
  integer: String,
  bigint: String,
  float8: String,
  boolean: String,
  bytea: (bytes) => `"\\\\x${Buffer.from(bytes).toString("hex")}"`,
  timestamptz: (time) => `"${new Date(time).toISOString()}"`,
  json: (value) => quote(JSON.stringify(value)),
};

function quote(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', String.raw`\"`)}"`;
}

function arrayOf(type: keyof Values, values: readonly unknown[], column: string): string {
  const write = ELEMENTS[type] as (value: unknown) => string;
  const elements = values.map((value) => {
    if (value === undefined) throw new TypeError(`${column} is missing in a row for the database`);
    return value === null ? "null" : write(value);
  });
  return `{${elements.join(",")}}`;
}
