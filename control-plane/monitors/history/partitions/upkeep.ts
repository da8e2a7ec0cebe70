import type { Sql, Transaction } from "#control-plane/database/connect.ts";
import { transact } from "#control-plane/database/transaction.ts";
import { deleteInSteps } from "#control-plane/database/upkeep.ts";
import { DAY_MS } from "#control-plane/monitors/history/period.ts";
import { firstKeptDay, planPartitions } from "#control-plane/monitors/history/partitions/partitions.ts";
import {
  createPartition,
  deleteOldWaiting,
  detachPartition,
  dropDetached,
  listPartitions,
  listWaitingDays,
  lockPartitions,
  type Partitions,
} from "#control-plane/monitors/history/partitions/store.ts";

/** Days whose checks are moved out of the default partition in one round. */
const MOST_WAITING = 10;
const DELETED_AT_ONCE = 10_000;

/**
 * Creates the partitions of the next days and drops those after the retention, one transaction each. One replica at a
 * time does it; the others return. Every replica calls it before it writes its first check.
 */
export async function keepPartitions(sql: Sql, now: Date, retentionMs: number): Promise<void> {
  const first = new Date(firstKeptDay(now.getTime(), retentionMs));
  await deleteInSteps(DELETED_AT_ONCE, (limit) => deleteOldWaiting(sql, first, limit));
  const waiting = await listWaitingDays(sql, first, new Date(now.getTime() + 7 * DAY_MS), MOST_WAITING);
  const { attached, detached } = await listPartitions(sql);
  const plan = planPartitions(attached, waiting, now.getTime(), retentionMs);
  for (const day of plan.create) {
    await change(sql, async (tx, present) => {
      if (present.attached.includes(day)) return;
      if (present.detached.includes(day)) await dropDetached(tx, day);
      await createPartition(tx, day);
    });
  }
  for (const day of plan.drop) {
    await change(sql, async (tx, present) => {
      if (present.attached.includes(day)) await detachPartition(tx, day);
    });
  }
  for (const day of [...detached.filter((one) => one < first.getTime()), ...plan.drop]) {
    await change(sql, async (tx, present) => {
      if (present.detached.includes(day)) await dropDetached(tx, day);
    });
  }
}

/** Runs a change with the partitions that are present now. Does nothing if another replica makes a change. */
async function change(sql: Sql, work: (tx: Transaction, present: Partitions) => Promise<void>): Promise<void> {
  await transact(sql, async (tx) => {
    if (await lockPartitions(tx)) await work(tx, await listPartitions(tx));
  });
}
