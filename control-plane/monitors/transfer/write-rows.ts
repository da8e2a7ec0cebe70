import type { Change } from "#control-plane/access/changes.ts";
import type { Transaction } from "#control-plane/database/connect.ts";
import type { RowCounts, RowProblem } from "#control-plane/document-part.ts";
import type { MonitorAccount } from "#control-plane/monitors/account/store.ts";
import { changedFields, changeOf } from "#control-plane/monitors/changed-fields.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import type { StoredMonitor } from "#control-plane/monitors/store.ts";
import type { CheckedRow } from "#control-plane/monitors/transfer/check-rows.ts";
import type { LinkedRows } from "#control-plane/monitors/transfer/link-rows.ts";
import type { WriteRefusal } from "#control-plane/http/written.ts";
import { problemOf } from "#control-plane/monitors/transfer/problems.ts";
import { changeMonitor } from "#control-plane/monitors/write/change.ts";
import { insertDrafts } from "#control-plane/monitors/write/create.ts";
import type { WriteDeps } from "#control-plane/monitors/write/deps.ts";

/** The result of an import for the monitors of a document. */
interface WrittenRows {
  readonly counts: RowCounts;
  readonly problems: readonly RowProblem[];
  readonly changes: readonly Change[];
}

/** Writes checked rows: the new monitors at once, then those that differ. */
export async function writeRows(
  deps: WriteDeps,
  tx: Transaction,
  account: MonitorAccount,
  rows: readonly CheckedRow[],
  { parents, members }: Pick<LinkedRows, "parents" | "members">,
): Promise<WrittenRows> {
  const made = rows.flatMap((row, index) => (row.own === null ? [{ row, index }] : []));
  const places = new Map(made.map(({ index }, place) => [index, place]));
  const drafts = made.map(({ row: { draft }, index }) => {
    const parent = parents[index] ?? null;
    const own = parent === null ? null : (rows[parent]?.own?.id ?? null);
    return { draft: { ...draft, depends_on: own }, parent: parent === null ? null : (places.get(parent) ?? null) };
  });
  const inserted = drafts.length === 0 ? [] : await insertDrafts(deps, tx, account, drafts);
  const ids = rows.map(({ own }, index) => own?.id ?? inserted[places.get(index) ?? -1] ?? 0);
  const updates = rows.flatMap((row, index) =>
    updateOf(row, index, { parent: parents[index], members: members[index] }, ids),
  );
  const problems: RowProblem[] = [];
  const written = new Map<number, StoredMonitor>();
  const change = async (index: number, id: number, given: Given): Promise<void> => {
    const changed = await changeMonitor(deps, tx, { accountId: account.id, id }, given, 0);
    if (changed.ok) written.set(id, changed.value.monitor);
    else problems.push(problemOf(index, withRowField(changed.refusal)));
  };
  // What is turned round would be a circle halfway: dependencies that change are ended first.
  for (const { index, id, isTurned } of updates) {
    // oxlint-disable-next-line no-await-in-loop -- one connection
    if (isTurned) await change(index, id, { depends_on: null });
  }
  // oxlint-disable-next-line no-await-in-loop -- one connection
  for (const { index, id, given } of updates) await change(index, id, given);
  // What new composites follow can be new too. It is checked here.
  for (const { row, index } of made) {
    if (row.draft.composite === null) continue;
    // oxlint-disable-next-line no-await-in-loop -- one connection
    await change(index, ids[index] ?? 0, { composite: { monitor_ids: idsOf(members[index] ?? [], ids) } });
  }
  return {
    counts: {
      created: made.length,
      updated: updates.length,
      unchanged: rows.length - made.length - updates.length,
      ids,
    },
    problems,
    changes: [
      ...made.map(({ row: { draft }, index }) => changeOf({ id: ids[index] ?? 0, name: draft.name }, "created")),
      ...updates.flatMap(({ id, own }) => {
        const monitor = written.get(id);
        return monitor === undefined
          ? []
          : [changeOf(monitor, "changed", changedFields(deps.encryption, own, monitor))];
      }),
    ],
  };
}

/** A row names the monitors of a composite in a field of its own. */
function withRowField(refusal: WriteRefusal): WriteRefusal {
  const { field } = refusal;
  return field === undefined
    ? refusal
    : { ...refusal, field: field.replace(/^composite\.monitor_ids/, "composite.monitors") };
}

interface Update {
  readonly index: number;
  readonly id: number;
  /** The monitor as it was. */
  readonly own: StoredMonitor;
  readonly given: Given;
  /** Whether it depends on another monitor now. */
  readonly isTurned: boolean;
}

/** Returns the change of a row's monitor; none if it is new or as the row has it. */
function updateOf(
  { own, given, isChanged }: CheckedRow,
  index: number,
  { parent, members }: { readonly parent: number | null | undefined; readonly members: readonly number[] | undefined },
  ids: readonly number[],
): readonly Update[] {
  if (own === null) return [];
  const followed = members === undefined ? undefined : idsOf(members, ids);
  const isFollowing =
    followed !== undefined && JSON.stringify(followed) !== JSON.stringify(own.settings.composite?.monitor_ids);
  const dependsOn = parent === undefined ? own.dependsOn : parent === null ? null : (ids[parent] ?? null);
  const isLinked = dependsOn !== own.dependsOn;
  if (!isChanged && !isLinked && !isFollowing) return [];
  const isTurned = isLinked && own.dependsOn !== null;
  const composite = isFollowing ? { composite: { ...given.composite, monitor_ids: followed } } : {};
  return [{ index, id: own.id, own, given: { ...given, ...composite, depends_on: dependsOn }, isTurned }];
}

function idsOf(indexes: readonly number[], ids: readonly number[]): number[] {
  return indexes.map((index) => ids[index] ?? 0);
}
