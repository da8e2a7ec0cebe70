import type { ChangedField } from "#control-plane/http/access/diff-resource.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import { createYielder } from "#control-plane/core/yielder.ts";
import { refuseGone, refuseProblem, type WriteRefusal, type Written } from "#control-plane/http/written.ts";
import { lockAccount, type MonitorAccount } from "#control-plane/monitors/account-store.ts";
import type { BulkChange } from "#control-plane/monitors/bulk/parse.ts";
import { refuseAbsentIds, refuseRows, refuseSet, rowProblem } from "#control-plane/monitors/bulk/problems.ts";
import { differencesOf } from "#control-plane/monitors/changed-fields.ts";
import { MOST_TAGS, type Given } from "#control-plane/monitors/settings/fields.ts";
import { findMonitors, lockMonitors, readOwned, type StoredMonitor } from "#control-plane/monitors/store.ts";
import { MOST_PROBLEMS } from "#control-plane/monitors/transfer/rows.ts";
import { findDependencyProblems } from "#control-plane/monitors/write/dependency.ts";
import type { WriteDeps } from "#control-plane/monitors/write/deps.ts";
import {
  draftChange,
  isResumed,
  refuseResumption,
  type DraftedChange,
} from "#control-plane/monitors/write/draft-change.ts";
import type { Plan } from "#control-plane/core/plans.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import { writeChanges } from "#control-plane/monitors/write/write-changes.ts";

/** What a change of many has done, or would do. */
export interface ManyChanged {
  /** In the order of the ids; `changed` is empty where a monitor was as the change has it. */
  readonly monitors: readonly {
    readonly id: number;
    readonly name: string;
    readonly changed: readonly ChangedField[];
  }[];
  /** From how many monitors a secret is removed because it would go to another origin, by the name of its field. */
  readonly removed: ReadonlyMap<string, number>;
}

/** A monitor of the request whose fields are checked. */
interface Row extends DraftedChange {
  /** Index of its id. */
  readonly index: number;
  readonly changed: readonly ChangedField[];
}

/** The refusal of a monitor; `index` is that of its id. */
interface RefusedRow {
  readonly index: number;
  readonly refusal: WriteRefusal;
}

/** Changes many monitors in the same way, all or none. A dry run checks the same, and writes nothing. */
export async function changeMonitors(
  deps: WriteDeps,
  tx: Transaction,
  accountId: number,
  { ids, set, isDryRun }: BulkChange,
): Promise<Written<ManyChanged>> {
  const account = await lockAccount(tx, accountId);
  if (account === null) return refuseGone();
  const found = new Map((await findMonitors(tx, accountId, ids)).map((monitor) => [monitor.id, monitor]));
  if (found.size < ids.length) return refuseAbsentIds(ids, (id) => found.has(id));
  const parent = set.given.depends_on ?? null;
  if (parent !== null && !(await readOwned(tx, accountId, [parent])).has(parent)) return refuseSet([UNKNOWN_PARENT]);
  const monitors = ids.flatMap((id) => found.get(id) ?? []);
  const { rows, refused } = await draftAll(deps, account, monitors, set);
  const changed = rows.filter(({ change }) => change.isChanged);
  const problems = [
    ...refused,
    ...(parent === null ? [] : await refuseDependencies(tx, accountId, changed, parent)),
    ...refuseResumptions(deps.plans[account.plan], account, changed),
  ].toSorted((one, other) => one.index - other.index);
  if (problems.length > 0) {
    return refuseRows(problems.map(({ index, refusal }) => rowProblem(index, ids[index] ?? 0, refusal)));
  }
  if (!isDryRun && changed.length > 0) {
    // Only now: the locked account keeps other writers of these rows out, and checks are recorded meanwhile.
    await lockMonitors(
      tx,
      changed.map(({ stored }) => stored.id),
    );
    await writeChanges(deps, tx, account, changed);
  }
  const shown = rows.map(({ stored, draft, changed: fields }) => ({
    id: stored.id,
    name: draft.name,
    changed: fields,
  }));
  return { ok: true, value: { monitors: shown, removed: countRemoved(changed) } };
}

const UNKNOWN_PARENT: FieldProblem = {
  field: "depends_on",
  reason: "unknown",
  message: "no monitor of your account has this id",
};

/** Checks the fields of every monitor, in pieces. Ends after as many refusals as an answer names. */
async function draftAll(
  deps: WriteDeps,
  account: MonitorAccount,
  monitors: readonly StoredMonitor[],
  set: BulkChange["set"],
): Promise<{ readonly rows: readonly Row[]; readonly refused: readonly RefusedRow[] }> {
  const rows: Row[] = [];
  const refused: RefusedRow[] = [];
  const yielder = createYielder(deps.clock);
  for (const [index, stored] of monitors.entries()) {
    const given = givenOf(stored, set);
    const drafted = given.ok ? draftChange(deps, account, stored, given.value) : given;
    if (drafted.ok) {
      const { value } = drafted;
      rows.push({ ...value, index, changed: differencesOf(value.present, value.draft) });
    } else refused.push({ index, refusal: drafted.refusal });
    if (refused.length >= MOST_PROBLEMS) break;
    // oxlint-disable-next-line no-await-in-loop -- gives the loop back
    if (yielder.isDue()) await yielder.rest();
  }
  return { rows, refused };
}

/** Returns the fields that a monitor gets. Tags that it keeps stay in their order. */
function givenOf({ tags }: StoredMonitor, { given, tagsAdd, tagsRemove }: BulkChange["set"]): Written<Given> {
  if (tagsAdd.length + tagsRemove.length === 0) return { ok: true, value: given };
  const next = [...new Set([...tags.filter((tag) => !tagsRemove.includes(tag)), ...tagsAdd])];
  if (next.length <= MOST_TAGS) return { ok: true, value: { ...given, tags: next } };
  const message = `would make ${next.length} tags; a monitor has at most ${MOST_TAGS}`;
  return refuseProblem({ field: "tags_add", reason: "range", message });
}

/** Refuses those that may not depend on the monitor on which they do not depend yet. */
async function refuseDependencies(
  tx: Transaction,
  accountId: number,
  rows: readonly Row[],
  parent: number,
): Promise<readonly RefusedRow[]> {
  const turned = rows.filter(({ present, draft }) => present.depends_on !== draft.depends_on);
  if (turned.length === 0) return [];
  const ids = turned.map(({ stored }) => stored.id);
  const problems = await findDependencyProblems(tx, accountId, ids, parent);
  return turned.flatMap(({ index, stored }) => {
    const problem = problems.get(stored.id);
    return problem === undefined ? [] : [{ index, ...refuseProblem(problem) }];
  });
}

/** Refuses the resumption of those for which the plan has no room any more. */
function refuseResumptions(plan: Plan, { active }: MonitorAccount, rows: readonly Row[]): readonly RefusedRow[] {
  const beyond = rows.filter(isResumed).slice(Math.max(0, plan.monitors - active));
  return beyond.map(({ index }) => ({ index, ...refuseResumption(plan) }));
}

function countRemoved(rows: readonly Row[]): ReadonlyMap<string, number> {
  const names = Map.groupBy(
    rows.flatMap(({ removed }) => removed),
    (name) => name,
  );
  return new Map(Array.from(names, ([name, all]) => [name, all.length]));
}
