import { SECRET_FIELDS, type Row } from "#shared/client/apply/document.ts";
import {
  withChanged,
  withoutChanged,
  withoutSecrets,
  type ChangedRow,
  type Plan,
  type PlannedRow,
  type PropertyChange,
} from "#shared/client/apply/plan.ts";
import type { Imported, Step } from "#shared/client/apply/service.ts";

/** Tries rows of monitors: how many an import would change. */
type Try = (rows: readonly Row[]) => Promise<Step<number>>;

/** A monitor and the row with which an import is tried. */
interface Suspect {
  readonly index: number;
  readonly row: Row;
}

/** Maximum number of trials of an apply: requests count by the plan. What is not found then counts as changed. */
const MOST_TRIALS = 40;

/**
 * Completes a plan by what only the service knows: which secrets differ, since an export leaves them out, and which values
 * it reads otherwise than they are written. `dryRun`: what the import of the whole document would do.
 */
export async function settlePlan(plan: Plan, dryRun: Imported, tryRows: Try): Promise<Step<Plan>> {
  const find = createFinder(tryRows);
  const secrets = await findSecrets(plan.unknownSecrets, find);
  if (!secrets.ok) return secrets;
  const known = settleLists(withSecrets(plan, secrets.value), dryRun);
  const changed = known.changed.filter(({ list }) => list === "monitors");
  if (changed.length === dryRun.updated) return { ok: true, value: known };
  if (changed.length < dryRun.updated) {
    const others = known.unchanged
      .filter(({ list }) => list === "monitors")
      .map(({ index, row }) => ({ index, row: alone(row) }));
    const found = await find(others, dryRun.updated - changed.length);
    return found.ok ? { ok: true, value: withMonitors(known, found.value) } : found;
  }
  const doubtful = changed.filter(isDoubtful);
  const certain = changed.length - doubtful.length;
  const found = await find(
    doubtful.map(({ index, row }) => ({ index, row: alone(row) })),
    Math.max(dryRun.updated - certain, 0),
  );
  if (!found.ok) return found;
  const same = new Set(doubtful.map(({ index }) => index).filter((index) => !found.value.has(index)));
  return { ok: true, value: withoutChanged(known, ({ list, index }) => list === "monitors" && same.has(index)) };
}

/** Finds the names of secrets that differ, by monitor. */
async function findSecrets(
  unknown: Plan["unknownSecrets"],
  find: Finder,
): Promise<Step<ReadonlyMap<number, readonly string[]>>> {
  const differing = await find(unknown.map(({ index, trial }) => ({ index, row: trial })));
  if (!differing.ok) return differing;
  const monitors = unknown.filter(({ index }) => differing.value.has(index));
  const names = new Map(monitors.map(({ index, single }) => [index, single.map(({ name }) => name)]));
  const several = monitors.filter(({ single }) => single.length > 1);
  const most = Math.max(0, ...several.map(({ single }) => single.length));
  // A document has a monitor once: the first secrets of all are tried, then the second ones.
  for (let place = 0; place < most; place += 1) {
    const having = several.flatMap(({ index, single }) => {
      const { [place]: one } = single;
      return one === undefined ? [] : [{ index, name: one.name, row: one.trial }];
    });
    // oxlint-disable-next-line no-await-in-loop -- trials are counted
    const found = await find(having);
    if (!found.ok) return found;
    for (const { index, name } of having) {
      if (!found.value.has(index)) names.set(index, names.get(index)?.filter((one) => one !== name) ?? []);
    }
  }
  return { ok: true, value: names };
}

/** Adds the secrets that differ, by monitor. */
function withSecrets(plan: Plan, names: ReadonlyMap<number, readonly string[]>): Plan {
  const changesOf = ({ index }: PlannedRow): readonly PropertyChange[] =>
    (names.get(index) ?? []).map((field) => ({ field, secret: "changed" }));
  return withChanged(plan, ({ list, index }) => list === "monitors" && names.has(index), changesOf);
}

function withMonitors(plan: Plan, indexes: ReadonlySet<number>): Plan {
  return withChanged(
    plan,
    ({ list, index }) => list === "monitors" && indexes.has(index),
    () => [],
  );
}

/**
 * A list in which the service would write nothing is as the document has it. If it would write more than the plan has, any
 * other row can be meant.
 */
function settleLists(plan: Plan, { others }: Imported): Plan {
  const kept = withoutChanged(plan, ({ list }) => list !== "monitors" && others[list] === 0);
  const writesIn = (list: string) => [...kept.created, ...kept.changed].filter((row) => row.list === list).length;
  const isMeant = ({ list }: PlannedRow) => list !== "monitors" && others[list] > writesIn(list);
  return withChanged(kept, isMeant, () => []);
}

/** Names of other rows and secrets are compared as they are; other values can be written in several ways. */
function isDoubtful({ changes }: ChangedRow): boolean {
  return changes.every((one) => !("secret" in one) && !/^(?:depends_on|composite)\b/.test(one.field));
}

/** Returns a row that needs no other row, and leaves secrets as they are. */
function alone(row: Row): Row {
  const { depends_on: _parent, composite: _members, secrets_missing: _names, ...rest } = row;
  return withoutEmpty(withoutSecrets(rest));
}

/** An object that had secrets alone says nothing. */
function withoutEmpty(row: Row): Row {
  const holders = new Set(SECRET_FIELDS.flatMap(({ path: [first = "", ...rest] }) => (rest.length > 0 ? [first] : [])));
  const isEmpty = (name: string, value: unknown) =>
    holders.has(name) && typeof value === "object" && value !== null && Object.keys(value).length === 0;
  return Object.fromEntries(Object.entries(row).filter(([name, value]) => !isEmpty(name, value)));
}

/** Returns the indexes of the monitors that an import would change; `given`: their number, if it is known. */
type Finder = (suspects: readonly Suspect[], given?: number) => Promise<Step<ReadonlySet<number>>>;

/** Finds the rows that an import would change, by trials of halves. One trial is enough where none or all would. */
function createFinder(tryRows: Try): Finder {
  let trials = 0;
  const find: Finder = async (suspects, given) => {
    if (suspects.length === 0) return { ok: true, value: new Set() };
    let count = given;
    if (count === undefined && trials < MOST_TRIALS) {
      trials += 1;
      const tried = await tryRows(suspects.map(({ row }) => row));
      if (!tried.ok) return tried;
      count = tried.value;
    }
    if (count === 0) return { ok: true, value: new Set() };
    const isKnown = count === undefined || count >= suspects.length;
    if (isKnown || trials >= MOST_TRIALS) return { ok: true, value: new Set(suspects.map(({ index }) => index)) };
    const middle = Math.ceil(suspects.length / 2);
    const first = await find(suspects.slice(0, middle));
    if (!first.ok) return first;
    const second = await find(suspects.slice(middle), (count ?? 0) - first.value.size);
    return second.ok ? { ok: true, value: new Set([...first.value, ...second.value]) } : second;
  };
  return find;
}
