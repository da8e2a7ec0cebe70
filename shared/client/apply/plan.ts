import {
  keyOf,
  LISTS,
  rowsOf,
  SECRET_FIELDS,
  secretNamesOf,
  secretsOf,
  timeOf,
  titleOf,
  valueAt,
  withValueAt,
  type ListName,
  type Row,
} from "#shared/client/apply/document.ts";
import { isRecord } from "#shared/text/is-record.ts";
import { toCanonicalJson } from "#shared/json/canonical.ts";

/** A property that gets another value; of a secret only what happens to it. */
export type PropertyChange =
  | { readonly field: string; readonly before: unknown; readonly after: unknown }
  | { readonly field: string; readonly secret: "set" | "changed" | "removed" };

/** A row of the document. */
export interface PlannedRow {
  readonly list: ListName;
  /** Index in the list of the document. */
  readonly index: number;
  /** What the row is called. */
  readonly title: string;
  readonly row: Row;
}

/** A row whose counterpart in the account changes. */
export interface ChangedRow extends PlannedRow {
  /** Empty: the service reads a value otherwise than it is written, and finds that it changes. */
  readonly changes: readonly PropertyChange[];
}

/** A monitor of the account for whose secrets the document has values. Only the service knows whether they differ. */
interface UnknownSecrets {
  readonly index: number;
  /** The monitor as it is, with all these secrets: an import changes it exactly if one of them differs. */
  readonly trial: Row;
  /** The same with each of them alone, by its dotted name. */
  readonly single: readonly { readonly name: string; readonly trial: Row }[];
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
  readonly unknownSecrets: readonly UnknownSecrets[];
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
 * Compares a document with the account, which is an export. A property that a row does not have stays as it is. Monitors
 * that are created get the tag of the owner, and keep it; only those that have it are ever deleted.
 */
export function planChanges(document: Row, state: unknown, { owner, prune }: Ownership): Plan {
  const present = rowsOf(state);
  const tag = owner === null ? null : ownerTag(owner);
  const created: PlannedRow[] = [];
  const changed: ChangedRow[] = [];
  const unchanged: PlannedRow[] = [];
  const unknownSecrets: UnknownSecrets[] = [];
  const { owner: _owner, webhooks: _webhooks, ...sent } = document;
  const desired: Record<string, unknown> = sent;
  for (const list of LISTS) {
    if (!Array.isArray(document[list])) continue;
    const own = Map.groupBy(present[list], (row) => keyOf(list, row));
    const rows: unknown[] = [];
    for (const [index, given] of (document[list] as readonly unknown[]).entries()) {
      if (!isRecord(given)) {
        rows.push(given);
        continue;
      }
      const before = own.get(keyOf(list, given))?.shift();
      const row = list === "monitors" ? withOwner(given, before, tag) : given;
      rows.push(row);
      const planned: PlannedRow = { list, index, title: titleOf(list, row), row };
      if (before === undefined) {
        created.push(planned);
        continue;
      }
      const changes = [
        ...compareFields(list, row, before),
        ...(list === "monitors" ? compareSecrets(row, before) : []),
      ];
      if (changes.length > 0) changed.push({ ...planned, changes });
      else unchanged.push(planned);
      if (list === "monitors") unknownSecrets.push(...findUnknown(index, row, before));
    }
    desired[list] = rows;
  }
  const kept = new Set(rowsOf(desired).monitors.map((row) => keyOf("monitors", row)));
  const mine = prune && tag !== null ? present.monitors.filter((row) => tagsOf(row).includes(tag)) : [];
  const deleted = mine.map((row) => keyOf("monitors", row)).filter((name) => !kept.has(name));
  return { document: desired, created, changed, unchanged, deleted, unknownSecrets };
}

/** Adds changes of rows: those that were unchanged are changed then. */
export function withChanged(
  plan: Plan,
  isMeant: (row: PlannedRow) => boolean,
  changesOf: (row: PlannedRow) => readonly PropertyChange[],
): Plan {
  const more = plan.unchanged.filter(isMeant).map((row): ChangedRow => ({ ...row, changes: changesOf(row) }));
  const changed = plan.changed.map((row) => {
    return isMeant(row) ? { ...row, changes: [...row.changes, ...changesOf(row)] } : row;
  });
  return { ...plan, changed: inOrder([...changed, ...more]), unchanged: plan.unchanged.filter((row) => !isMeant(row)) };
}

/** Takes out what the service would not change, since it reads a value as the account has it. */
export function withoutChanged(plan: Plan, isMeant: (row: PlannedRow) => boolean): Plan {
  return {
    ...plan,
    changed: plan.changed.filter((row) => !isMeant(row)),
    unchanged: inOrder([...plan.unchanged, ...plan.changed.filter(isMeant)]),
  };
}

function inOrder<T extends PlannedRow>(rows: readonly T[]): readonly T[] {
  return rows.toSorted((one, other) => LISTS.indexOf(one.list) - LISTS.indexOf(other.list) || one.index - other.index);
}

/** A new monitor gets the tag of the owner; one that has it keeps it, also if its row has other tags. */
function withOwner(row: Row, before: Row | undefined, tag: string | null): Row {
  if (tag === null || (before !== undefined && !tagsOf(before).includes(tag))) return row;
  const { tags = [] } = row;
  if ((before !== undefined && row["tags"] === undefined) || !Array.isArray(tags) || tags.includes(tag)) return row;
  return { ...row, tags: [...(tags as readonly unknown[]), tag] };
}

function tagsOf({ tags }: Row): readonly unknown[] {
  return Array.isArray(tags) ? tags : [];
}

/** Compares the properties of a row that are no secrets; by its name it was found. */
function compareFields(list: ListName, row: Row, before: Row): readonly PropertyChange[] {
  const { secrets_missing: _names, name: _name, ...fields } = row;
  const open = list === "monitors" ? withoutSecrets(fields) : row;
  return Object.entries(open).flatMap(([name, value]) => compareValue(name, value, before[name]));
}

/** Returns a row of a monitor without its secrets. */
export function withoutSecrets(row: Row): Row {
  return SECRET_FIELDS.reduce((rest, { path }) => {
    return valueAt(rest, path) === undefined ? rest : withValueAt(rest, path, undefined);
  }, row);
}

/** Objects are compared by their properties: one that is not given stays as it is. */
function compareValue(field: string, given: unknown, present: unknown): readonly PropertyChange[] {
  if (isRecord(given) && isRecord(present)) {
    return Object.entries(given).flatMap(([name, value]) => compareValue(`${field}.${name}`, value, present[name]));
  }
  return isSame(given, present) ? [] : [{ field, before: present ?? null, after: given }];
}

/** Items of lists are whole: what an item does not have is null. */
function isSame(given: unknown, present: unknown): boolean {
  const time = timeOf(given);
  if (time !== null && time === timeOf(present)) return true;
  return toCanonicalJson(withoutNulls(given)) === toCanonicalJson(withoutNulls(present));
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isRecord(value)) return value ?? null;
  const members = Object.entries(value).filter(([, one]) => one !== null && one !== undefined);
  return Object.fromEntries(members.map(([name, one]) => [name, withoutNulls(one)]));
}

/** Compares which secrets a monitor has, and the values that an export shows. Names are without case, as those of fields. */
function compareSecrets(row: Row, before: Row): readonly PropertyChange[] {
  const given = lowerNames(secretNamesOf(row));
  const present = lowerNames(secretNamesOf(before));
  const shown = new Map(secretsOf(before).map(({ name, value }) => [name.toLowerCase(), value]));
  const set = [...given].filter(([name]) => !present.has(name));
  const values = secretsOf(row).filter(({ name, value }) => {
    const known = shown.get(name.toLowerCase());
    return known !== undefined && known !== value;
  });
  const gone = [...present].filter(([name]) => !given.has(name) && isGiven(row, name));
  return [
    ...set.map(([, field]) => ({ field, secret: "set" as const })),
    ...values.map(({ name }) => ({ field: name, secret: "changed" as const })),
    ...gone.map(([, field]) => ({ field, secret: "removed" as const })),
  ];
}

/** Reports whether a row says which secrets its monitor has in the field of one of them. */
function isGiven(row: Row, name: string): boolean {
  const field = SECRET_FIELDS.find(({ path, isMap }) => {
    const prefix = path.join(".");
    return isMap ? name.startsWith(`${prefix}.`) : name === prefix;
  });
  if (field === undefined) return false;
  if (valueAt(row, field.path) !== undefined) return true;
  return field.isMap && secretNamesOf(row).some((one) => one.startsWith(`${field.path.join(".")}.`));
}

/** Returns what an import would have to be asked: whether secrets of a monitor differ that an export leaves out. */
function findUnknown(index: number, row: Row, before: Row): readonly UnknownSecrets[] {
  const hidden = new Set(lowerNames(Array.isArray(before["secrets_missing"]) ? before["secrets_missing"] : []).keys());
  const secrets = secretsOf(row).filter(({ name }) => hidden.has(name.toLowerCase()));
  if (secrets.length === 0) return [];
  const { depends_on: _parent, composite: _members, ...alone } = before;
  const trialOf = (some: typeof secrets) =>
    some.reduce<Row>((monitor, { path, value }) => withValueAt(monitor, path, value), alone);
  const single = secrets.map((one) => ({ name: one.name, trial: trialOf([one]) }));
  return [{ index, trial: trialOf(secrets), single }];
}

function lowerNames(names: readonly unknown[]): ReadonlyMap<string, string> {
  return new Map(names.map((name) => [String(name).toLowerCase(), String(name)]));
}
