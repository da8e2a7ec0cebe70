import type { Transaction } from "#control-plane/core/database/connect.ts";
import { restartHeartbeats } from "#control-plane/watching/heartbeats/heartbeats.ts";
import { addStatusChanges } from "#control-plane/outages/history/record.ts";
import { endOutagesOf } from "#control-plane/outages/incidents/outages/outages.ts";
import { removeFromWindows } from "#control-plane/outages/maintenance/maintenance.ts";
import { restartStates } from "#control-plane/outages/state/states.ts";

/**
 * Returns locked monitors to unknown and resolves their open incidents without an event. paused: they are not checked any
 * more; restarted: they have a new target, or are checked again after a pause.
 */
export async function resetMonitors(
  tx: Transaction,
  ids: readonly number[],
  reason: "paused" | "restarted",
  now: Date,
): Promise<void> {
  await restartStates(tx, ids);
  await restartHeartbeats(tx, ids);
  const changes = ids.map((monitorId) => ({ monitorId, at: now, status: "unknown" }) as const);
  await addStatusChanges(tx, changes, now);
  await endOutagesOf(tx, ids, now, reason === "paused" ? "paused" : "changed_target");
}

/** Resolves the open incidents of monitors without an event. Called before the monitors are deleted. */
export async function endMonitors(tx: Transaction, ids: readonly number[], now: Date): Promise<void> {
  await endOutagesOf(tx, ids, now, "deleted");
  await removeFromWindows(tx, ids);
}
