import type { Change } from "#control-plane/http/access/changes.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import type { RowCounts, RowProblem } from "#control-plane/accounts/document-part.ts";
import type { MonitorAccount } from "#control-plane/monitors/account-store.ts";
import { changeOf, differencesOf } from "#control-plane/monitors/changed-fields.ts";
import { findMonitors } from "#control-plane/monitors/store.ts";
import { changeRows, type Update } from "#control-plane/monitors/transfer/change-rows.ts";
import type { CheckedRow } from "#control-plane/monitors/transfer/check-rows.ts";
import type { LinkedRows } from "#control-plane/monitors/transfer/link-rows.ts";
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
  // What new composites follow can be new too, and has its ids now.
  const composites = made.filter(({ row }) => row.draft.composite !== null);
  const added = await findMonitors(
    tx,
    account.id,
    composites.map(({ index }) => ids[index] ?? 0),
  );
  const stored = new Map(added.map((monitor) => [monitor.id, monitor]));
  const followings = composites.flatMap(({ index }): readonly Update[] => {
    const own = stored.get(ids[index] ?? 0);
    const composite = { monitor_ids: idsOf(members[index] ?? [], ids) };
    return own === undefined ? [] : [{ index, own, given: { composite } }];
  });
  const begun = made.filter(({ row }) => row.draft.is_active).length;
  const changed = await changeRows(deps, tx, { ...account, active: account.active + begun }, [
    ...updates,
    ...followings,
  ]);
  return {
    counts: {
      created: made.length,
      updated: updates.length,
      unchanged: rows.length - made.length - updates.length,
      ids,
    },
    problems: changed.problems,
    changes: [
      ...made.map(({ row: { draft }, index }) => changeOf({ id: ids[index] ?? 0, name: draft.name }, "created")),
      ...changed.drafted.flatMap(({ stored: { id }, present, draft }) =>
        stored.has(id) ? [] : [changeOf({ id, name: draft.name }, "changed", differencesOf(present, draft))],
      ),
    ],
  };
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
  if (!isChanged && dependsOn === own.dependsOn && !isFollowing) return [];
  const composite = isFollowing ? { composite: { ...given.composite, monitor_ids: followed } } : {};
  return [{ index, own, given: { ...given, ...composite, depends_on: dependsOn } }];
}

function idsOf(indexes: readonly number[], ids: readonly number[]): number[] {
  return indexes.map((index) => ids[index] ?? 0);
}
