import {
  keyOf,
  LISTS,
  rowsOf,
  SECRET_FIELDS,
  secretNamesOf,
  titleOf,
  valueAt,
  type ListName,
  type Row,
  type SecretField,
} from "#shared/client/apply/document.ts";
import { isRecord } from "#shared/text/is-record.ts";

/** A property that gets another value; of a secret only what happens to it. */
export type PropertyChange =
  | { readonly field: string; readonly before: unknown; readonly after: unknown }
  | { readonly field: string; readonly secret: "set" | "changed" | "removed" };

/** A row of the document. */
interface PlannedRow {
  readonly list: ListName;
  /** Index in the list of the document. */
  readonly index: number;
  /** What the row is called. */
  readonly title: string;
  readonly row: Row;
}

/** A row whose counterpart in the account changes. */
interface ChangedRow extends PlannedRow {
  /** Empty: the service reads a value otherwise than it is written, and finds that it changes. */
  readonly changes: readonly PropertyChange[];
}

/** What an apply does. */
export interface Plan {
  /** The document to import. */
  readonly document: Readonly<Record<string, unknown>>;
  readonly created: readonly PlannedRow[];
  readonly changed: readonly ChangedRow[];
  readonly unchanged: readonly PlannedRow[];
  /** Names of monitors that are deleted. */
  readonly deleted: readonly string[];
}

/** A row beside its counterpart in an export of the account. */
interface PairedRow extends PlannedRow {
  /** null if it is new. */
  readonly before: Row | null;
}

/** A document beside the account. What differs is what the service says of a dry run of its import. */
export interface PairedDocument extends Pick<Plan, "document" | "deleted"> {
  readonly rows: readonly PairedRow[];
}

/** Who owns the monitors of a document. */
interface Ownership {
  /** null: the document has no owner, and nothing is deleted. */
  readonly owner: string | null;
  /** Monitors of the owner that the document does not have are deleted. */
  readonly prune: boolean;
}

/** Returns the tag of the monitors that an apply with this owner has created. */
export function ownerTag(owner: string): string {
  return `managed:${owner}`;
}

/**
 * Finds the counterpart of each row of a document in the account, which is an export. Monitors that are created get the tag
 * of the owner, and keep it; only those that have it are ever deleted.
 */
export function pairRows(document: Row, state: unknown, { owner, prune }: Ownership): PairedDocument {
  const present = rowsOf(state);
  const tag = owner === null ? null : ownerTag(owner);
  const paired: PairedRow[] = [];
  const { owner: _owner, webhooks: _webhooks, ...sent } = document;
  const desired: Record<string, unknown> = sent;
  for (const list of LISTS) {
    if (!Array.isArray(document[list])) continue;
    const own = Map.groupBy(present[list], (row) => keyOf(list, row));
    desired[list] = (document[list] as readonly unknown[]).map((given, index) => {
      if (!isRecord(given)) return given;
      const before = own.get(keyOf(list, given))?.shift() ?? null;
      const row = list === "monitors" ? withOwner(given, before, tag) : given;
      paired.push({ list, index, title: titleOf(list, row), row, before });
      return row;
    });
  }
  const kept = new Set(rowsOf(desired).monitors.map((row) => keyOf("monitors", row)));
  const mine = prune && tag !== null ? present.monitors.filter((row) => tagsOf(row).includes(tag)) : [];
  const deleted = mine.map((row) => keyOf("monitors", row)).filter((name) => !kept.has(name));
  return { document: desired, rows: paired, deleted };
}

/** A row that an import creates or changes, as the service says. */
export interface RowToImport {
  /** Such as `monitors.3`. */
  readonly row: string;
  readonly action: "created" | "changed";
  /** Dotted names of the fields that change. */
  readonly fields: readonly string[];
}

/** Returns what an apply does, by what the service says of a dry run. */
export function planOf({ document, rows, deleted }: PairedDocument, dryRun: readonly RowToImport[]): Plan {
  const named = new Map(dryRun.map((one) => [one.row, one]));
  const said = ({ list, index }: PairedRow) => named.get(`${list}.${index}`);
  return {
    document,
    created: rows.filter((row) => said(row)?.action === "created"),
    changed: rows.flatMap((row) => {
      const one = said(row);
      return one?.action === "changed" ? [{ ...row, changes: changesOf(row, one.fields) }] : [];
    }),
    unchanged: rows.filter((row) => said(row) === undefined),
    deleted,
  };
}

/** A new monitor gets the tag of the owner; one that has it keeps it, also if its row has other tags. */
function withOwner(row: Row, before: Row | null, tag: string | null): Row {
  if (tag === null || (before !== null && !tagsOf(before).includes(tag))) return row;
  const { tags = [] } = row;
  if ((before !== null && row["tags"] === undefined) || !Array.isArray(tags) || tags.includes(tag)) return row;
  return { ...row, tags: [...(tags as readonly unknown[]), tag] };
}

function tagsOf({ tags }: Row): readonly unknown[] {
  return Array.isArray(tags) ? tags : [];
}

/**
 * Returns the fields of a row that change, in its order, with the values of the account and of the document; of secrets
 * without.
 */
function changesOf({ list, row, before }: PairedRow, fields: readonly string[]): readonly PropertyChange[] {
  const secrets = list === "monitors" ? SECRET_FIELDS : [];
  const present = lowerNames(before ?? {});
  const given = lowerNames(row);
  const order = [...Object.keys(row), ...fields.map(topOf)];
  const sorted = fields.toSorted((one, other) => order.indexOf(topOf(one)) - order.indexOf(topOf(other)));
  return sorted.flatMap((field): readonly PropertyChange[] => {
    if (secrets.some((one) => isIn(one, field))) {
      const name = field.toLowerCase();
      const what = present.has(name) ? (given.has(name) ? "changed" : "removed") : "set";
      return [{ field, secret: what }];
    }
    const path = field.split(".");
    const after = valueAt(row, path);
    // What follows from another field, such as the kind, is not in the row.
    return after === undefined ? [] : [{ field, before: valueAt(before, path) ?? null, after }];
  });
}

function topOf(field: string): string {
  return field.split(".", 1)[0] ?? "";
}

function isIn({ path, isMap }: SecretField, field: string): boolean {
  const name = path.join(".");
  return isMap ? field.startsWith(`${name}.`) : field === name;
}

/** Names of header fields have no case. */
function lowerNames(row: Row): ReadonlySet<string> {
  return new Set(secretNamesOf(row).map((name) => name.toLowerCase()));
}
