import type { Change } from "#control-plane/access/changes.ts";
import type { Transaction } from "#control-plane/database/connect.ts";
import type { RowCounts, RowProblem } from "#control-plane/document-part.ts";
import type { MonitorAccount } from "#control-plane/monitors/account/store.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import type { CheckedRow } from "#control-plane/monitors/transfer/check-rows.ts";
import type { LinkedRows } from "#control-plane/monitors/transfer/link-rows.ts";
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
  parents: LinkedRows["parents"],
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
  const updates = rows.flatMap((row, index) => updateOf(row, index, parents[index], ids));
  const problems: RowProblem[] = [];
  const change = async (index: number, id: number, given: Given): Promise<void> => {
    const changed = await changeMonitor(deps, tx, { accountId: account.id, id }, given);
    if (!changed.ok) problems.push(problemOf(index, changed.refusal));
  };
  // What is turned round would be a circle halfway: dependencies that change are ended first.
  for (const { index, id, isTurned } of updates) {
    // oxlint-disable-next-line no-await-in-loop -- one connection
    if (isTurned) await change(index, id, { depends_on: null });
  }
  // oxlint-disable-next-line no-await-in-loop -- one connection
  for (const { index, id, given } of updates) await change(index, id, given);
  return {
    counts: {
      created: made.length,
      updated: updates.length,
      unchanged: rows.length - made.length - updates.length,
      ids,
    },
    problems,
    changes: [
      ...inserted.map((id): Change => ({ resource: "monitor", id, action: "created" })),
      ...updates.map(({ id }): Change => ({ resource: "monitor", id, action: "changed" })),
    ],
  };
}

interface Update {
  readonly index: number;
  readonly id: number;
  readonly given: Given;
  /** Whether it depends on another monitor now. */
  readonly isTurned: boolean;
}

/** Returns the change of a row's monitor; none if it is new or as the row has it. */
function updateOf(
  { own, given, isChanged }: CheckedRow,
  index: number,
  parent: number | null | undefined,
  ids: readonly number[],
): readonly Update[] {
  if (own === null) return [];
  const dependsOn = parent === undefined ? own.dependsOn : parent === null ? null : (ids[parent] ?? null);
  const isLinked = dependsOn !== own.dependsOn;
  if (!isChanged && !isLinked) return [];
  const isTurned = isLinked && own.dependsOn !== null;
  return [{ index, id: own.id, given: { ...given, depends_on: dependsOn }, isTurned }];
}
