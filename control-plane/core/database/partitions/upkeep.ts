import type { Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { deleteInSteps } from "#control-plane/core/database/upkeep.ts";
import { DAY_MS, firstKeptDay, planPartitions, type DayTable } from "#control-plane/core/database/partitions/days.ts";
import {
  createPartition,
  deleteOldWaiting,
  detachPartition,
  dropDetached,
  listPartitions,
  listWaitingDays,
  lockPartitions,
  type Partitions,
} from "#control-plane/core/database/partitions/store.ts";

/** Days whose rows are moved out of the default partition in one round. */
const MOST_WAITING = 10;
const DELETED_AT_ONCE = 10_000;

/**
 * Creates the partitions of the next days and drops those after the retention, one transaction each. One replica at a
 * time does it; the others return. Rows of a day without a partition go to the default one and are moved later.
 */
export async function keepPartitions(sql: Sql, table: DayTable, now: Date, retentionMs: number): Promise<void> {
  const first = new Date(firstKeptDay(now.getTime(), retentionMs));
  const last = new Date(now.getTime() + 7 * DAY_MS);
  await deleteInSteps(DELETED_AT_ONCE, (limit) => deleteOldWaiting(sql, table, first, limit));
  const waiting = await listWaitingDays(sql, table, { first, last }, MOST_WAITING);
  const { attached, detached } = await listPartitions(sql, table);
  const plan = planPartitions(attached, waiting, now.getTime(), retentionMs);
  for (const day of plan.create) {
    await change(sql, table, async (tx, present) => {
      if (present.attached.includes(day)) return;
      if (present.detached.includes(day)) await dropDetached(tx, table, day);
      await createPartition(tx, table, day);
    });
  }
  for (const day of plan.drop) {
    await change(sql, table, async (tx, present) => {
      if (present.attached.includes(day)) await detachPartition(tx, table, day);
    });
  }
  for (const day of [...detached.filter((one) => one < first.getTime()), ...plan.drop]) {
    await change(sql, table, async (tx, present) => {
      if (present.detached.includes(day)) await dropDetached(tx, table, day);
    });
  }
}

/** Lists the days of a table that have a partition, in order, in Unix milliseconds. */
export async function listDays(tx: Transaction, table: DayTable): Promise<readonly number[]> {
  return (await listPartitions(tx, table)).attached.toSorted((a, b) => a - b);
}

/** Creates the partition of a day of a table that nobody else uses. */
export function createDay(tx: Transaction, table: DayTable, day: number): Promise<void> {
  return createPartition(tx, table, day);
}

/** Runs a change with the partitions that are present now. Does nothing if another replica makes a change. */
async function change(
  sql: Sql,
  table: DayTable,
  work: (tx: Transaction, present: Partitions) => Promise<void>,
): Promise<void> {
  await transact(sql, async (tx) => {
    if (await lockPartitions(tx, table)) await work(tx, await listPartitions(tx, table));
  });
}
