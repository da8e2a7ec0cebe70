import type { Transaction } from "#control-plane/core/database/connect.ts";
import { insertStates, resetStates } from "#control-plane/outages/state/store.ts";

/** Begins the states of new monitors: unknown. */
export async function beginStates(tx: Transaction, monitorIds: readonly number[]): Promise<void> {
  await insertStates(tx, monitorIds);
}

/** Makes the states of locked monitors (lockMonitors) those of new ones; what checks under way have seen is dropped. */
export async function restartStates(tx: Transaction, monitorIds: readonly number[]): Promise<void> {
  await resetStates(tx, monitorIds);
}
