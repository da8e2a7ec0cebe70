import type { Queryable, Transaction } from "#control-plane/database/connect.ts";
import { scheduleOf } from "#control-plane/monitors/draft.ts";
import { lockAccount } from "#control-plane/monitors/account/store.ts";
import { listMonitorsAfter, lockMonitors, pauseNewest, readIds, resumeOldest } from "#control-plane/monitors/store.ts";
import type { WriteDeps } from "#control-plane/monitors/write/deps.ts";
import { noteAccountChanged } from "#control-plane/page-changes/page-changes.ts";

/** Number of monitors that are read at once. */
const STEP = 1_000;

/**
 * Adapts the monitors of an account to its present plan, in the transaction that changes the account. The newest active
 * ones beyond the allowance are paused; with a larger plan those are resumed, the oldest first. All others get the
 * intervals and locations that the plan allows.
 */
export async function applyPlan(deps: WriteDeps, queryable: Queryable, accountId: number): Promise<void> {
  const tx = queryable as Transaction;
  const { clock, plans, ports } = deps;
  const account = await lockAccount(tx, accountId);
  if (account === null || account.total === 0) return;
  await lockMonitors(tx, await readIds(tx, accountId));
  const plan = plans[account.plan];
  const surplus = account.active - plan.monitors;
  if (surplus > 0) {
    const paused = await pauseNewest(tx, accountId, surplus, clock.now());
    await ports.schedule.remove(tx, paused);
    await ports.states.reset(tx, paused, "paused");
  }
  await noteAccountChanged(tx, [accountId]);
  await rescheduleAll(deps, tx, accountId, plan);
  if (surplus < 0) {
    const resumed = await resumeOldest(tx, accountId, -surplus, clock.now());
    if (resumed.length === 0) return;
    await ports.schedule.plan(
      tx,
      resumed.map((monitor) => scheduleOf(monitor, plan)),
    );
    await ports.states.reset(
      tx,
      resumed.map(({ id }) => id),
      "restarted",
    );
  }
}

async function rescheduleAll(
  { ports }: WriteDeps,
  tx: Transaction,
  accountId: number,
  plan: Parameters<typeof scheduleOf>[1],
): Promise<void> {
  let after = 0;
  for (;;) {
    const monitors = await listMonitorsAfter(tx, accountId, after, STEP);
    const active = monitors.filter(({ isActive }) => isActive);
    if (active.length > 0)
      await ports.schedule.change(
        tx,
        active.map((monitor) => scheduleOf(monitor, plan)),
      );
    if (monitors.length < STEP) return;
    after = monitors.at(-1)?.id ?? 0;
  }
}
