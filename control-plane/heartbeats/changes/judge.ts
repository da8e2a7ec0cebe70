import type { Transaction } from "#control-plane/database/connect.ts";
import { applyHeartbeatChanges, openHeartbeat, type HeartbeatChange } from "#control-plane/heartbeats/changes/apply.ts";
import { lockHeartbeats } from "#control-plane/heartbeats/changes/store.ts";
import { judgeNext } from "#control-plane/heartbeats/judge.ts";
import type { ApplyDeps } from "#control-plane/checking/watch/apply-changes.ts";

/**
 * Makes the state of each of these monitors follow the oldest verdict of its pings that it does not know. Their pings are
 * recorded meanwhile. Returns the monitors that have more such verdicts. `now` is Unix milliseconds.
 */
export async function judgeHeartbeats(
  tx: Transaction,
  deps: ApplyDeps,
  ids: readonly number[],
  now: number,
): Promise<readonly number[]> {
  const locked = await lockHeartbeats(tx, ids, { skip: false, stopsPings: false });
  const changes = locked.flatMap((row): HeartbeatChange[] => {
    const heartbeat = openHeartbeat(row);
    const judged = heartbeat === null ? null : judgeNext(heartbeat);
    return heartbeat === null || judged === null ? [] : [{ heartbeat, ...judged, cause: "ping" }];
  });
  await applyHeartbeatChanges(tx, deps, changes, now);
  return changes.flatMap(({ heartbeat: { row, record } }) => (record.verdicts.length > 1 ? row.monitorId : []));
}
