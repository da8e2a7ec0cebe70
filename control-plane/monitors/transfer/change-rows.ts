import { readLinks } from "#control-plane/outages/composites.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import type { RowProblem } from "#control-plane/accounts/document-part.ts";
import { refuseProblem, type WriteRefusal } from "#control-plane/http/written.ts";
import type { MonitorAccount } from "#control-plane/monitors/account-store.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import { lockMonitors, type StoredMonitor } from "#control-plane/monitors/store.ts";
import { problemOf } from "#control-plane/monitors/transfer/problems.ts";
import type { WriteDeps } from "#control-plane/monitors/write/deps.ts";
import {
  draftChange,
  isResumed,
  refuseResumption,
  type DraftedChange,
} from "#control-plane/monitors/write/draft-change.ts";
import { findLinkProblems } from "#control-plane/monitors/write/members.ts";
import { writeChanges } from "#control-plane/monitors/write/write-changes.ts";
import { createYielder } from "#control-plane/core/yielder.ts";

/** What a row changes of a monitor. */
export interface Update {
  /** Index of the row. */
  readonly index: number;
  /** The monitor as it is. */
  readonly own: StoredMonitor;
  readonly given: Given;
}

/** What a row makes of its monitor. */
interface DraftedRow extends DraftedChange {
  readonly index: number;
}

/**
 * Changes the monitors of a document, all or none, in as many statements for many as for one. The rows were checked, also
 * the chains of dependencies; what remains is what depends on all of them. `account` counts what the document has created.
 */
export async function changeRows(
  deps: WriteDeps,
  tx: Transaction,
  account: MonitorAccount,
  updates: readonly Update[],
): Promise<{ readonly drafted: readonly DraftedRow[]; readonly problems: readonly RowProblem[] }> {
  const { drafted, problems } = await draftAll(deps, account, updates);
  const changed = drafted.filter(({ change }) => change.isChanged);
  if (changed.length > 0) {
    const links = await readLinks(tx, account.id);
    const linked = findLinkProblems(
      links,
      changed.map(({ stored, present, draft }) => ({ id: stored.id, present, draft })),
    );
    for (const { index, stored } of changed) {
      const problem = linked.get(stored.id);
      if (problem !== undefined) problems.push(rowProblem(index, refuseProblem(problem).refusal));
    }
  }
  if (problems.length > 0 || changed.length === 0) return { drafted, problems };
  await lockMonitors(
    tx,
    changed.map(({ stored }) => stored.id),
  );
  await writeChanges(deps, tx, account, changed);
  return { drafted, problems };
}

/** Applies what each row says, in pieces. A row that pauses a monitor makes room for the resumption of a later one. */
async function draftAll(
  deps: WriteDeps,
  account: MonitorAccount,
  updates: readonly Update[],
): Promise<{ readonly drafted: readonly DraftedRow[]; readonly problems: RowProblem[] }> {
  const plan = deps.plans[account.plan];
  const drafted: DraftedRow[] = [];
  const problems: RowProblem[] = [];
  const yielder = createYielder(deps.clock);
  let { active } = account;
  for (const { index, own, given } of updates) {
    const one = draftChange(deps, account, own, given);
    const isFull = one.ok && isResumed(one.value) && active >= plan.monitors;
    if (!one.ok) problems.push(rowProblem(index, one.refusal));
    else if (isFull) problems.push(rowProblem(index, refuseResumption(plan).refusal));
    else {
      const { present, draft } = one.value;
      active += Number(draft.is_active) - Number(present.is_active);
      drafted.push({ ...one.value, index });
    }
    // oxlint-disable-next-line no-await-in-loop -- gives the loop back
    if (yielder.isDue()) await yielder.rest();
  }
  return { drafted, problems };
}

/** Returns a refusal as a problem of its row, which names the monitors of a composite in a field of its own. */
function rowProblem(index: number, refusal: WriteRefusal): RowProblem {
  const { field } = refusal;
  const named = field?.replace(/^composite\.monitor_ids/, "composite.monitors");
  return problemOf(index, named === undefined ? refusal : { ...refusal, field: named });
}
