import { changeChecks, planChecks, removeChecks } from "#control-plane/watching/checking/schedule/schedule.ts";
import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { lockAccount } from "#control-plane/monitors/account-store.ts";
import { scheduleOf } from "#control-plane/monitors/draft.ts";
import { monitorsInSteps } from "#control-plane/monitors/steps.ts";
import { pauseNewest, resumeOldest } from "#control-plane/monitors/allowance-store.ts";
import { lockMonitors, readIds } from "#control-plane/monitors/store.ts";
import type { WriteDeps } from "#control-plane/monitors/write/deps.ts";
import { resetMonitors } from "#control-plane/monitors/write/states.ts";
import { noteAccountChanged } from "#control-plane/core/page-changes.ts";

/** Number of monitors that are read at once. */
const STEP = 1_000;

/**
 * Adapts the monitors of an account to its present plan, in the transaction that changes the account. The newest active
 * ones beyond the allowance are paused; with a larger plan those are resumed, the oldest first. All others get the
 * intervals and locations that the plan allows.
 */
export async function applyPlan(deps: WriteDeps, queryable: Queryable, accountId: number): Promise<void> {
  const tx = queryable as Transaction;
  const { clock, plans } = deps;
  const account = await lockAccount(tx, accountId);
  if (account === null || account.total === 0) return;
  await lockMonitors(tx, await readIds(tx, accountId));
  const plan = plans[account.plan];
  const surplus = account.active - plan.monitors;
  if (surplus > 0) {
    const paused = await pauseNewest(tx, accountId, surplus, clock.now());
    await removeChecks(tx, paused);
    await resetMonitors(tx, paused, "paused", clock.now());
  }
  await noteAccountChanged(tx, [accountId]);
  await rescheduleAll(deps, tx, accountId, plan);
  if (surplus < 0) {
    const resumed = await resumeOldest(tx, accountId, -surplus, clock.now());
    if (resumed.length === 0) return;
    const planned = resumed.map((monitor) => scheduleOf(monitor, plan));
    await planChecks(tx, planned, clock.now());
    const ids = resumed.map(({ id }) => id);
    await resetMonitors(tx, ids, "restarted", clock.now());
  }
}

async function rescheduleAll(
  { clock }: WriteDeps,
  tx: Transaction,
  accountId: number,
  plan: Parameters<typeof scheduleOf>[1],
): Promise<void> {
  for await (const monitors of monitorsInSteps(tx, accountId, STEP)) {
    const planned = monitors.filter(({ isActive }) => isActive).map((monitor) => scheduleOf(monitor, plan));
    if (planned.length > 0) await changeChecks(tx, planned, clock.now());
  }
}
