import type { Transaction } from "#control-plane/database/connect.ts";
import { applyHeartbeatChanges, openHeartbeat, type HeartbeatChange } from "#control-plane/heartbeats/changes/apply.ts";
import { lockHeartbeats } from "#control-plane/heartbeats/changes/store.ts";
import { foldPings } from "#control-plane/heartbeats/fold-pings.ts";
import { countedPings, toDecoys, type PlannedPings } from "#control-plane/heartbeats/pings/plan.ts";
import { writePings, type WrittenPings } from "#control-plane/heartbeats/pings/store.ts";
import type { ApplyDeps } from "#control-plane/monitors/watch/apply-changes.ts";

/**
 * Records pings that change the states of their monitors, each monitor up to its first such ping. Everything is read
 * again under locks. Returns for each address how many of its pings were recorded; the others are planned again.
 * `now` is Unix milliseconds.
 */
export async function recordChanges(
  tx: Transaction,
  deps: ApplyDeps,
  planned: readonly PlannedPings[],
  now: number,
): Promise<readonly number[]> {
  const ids = planned.flatMap(({ monitorId }) => (monitorId === null ? [] : [monitorId]));
  const locked = await lockHeartbeats(tx, ids, { skip: false });
  const byId = new Map(locked.map((row) => [row.monitorId, openHeartbeat(row)]));
  const writes: WrittenPings[] = [];
  const changes: HeartbeatChange[] = [];
  const taken = planned.map(({ pinged, monitorId }) => {
    const heartbeat = byId.get(monitorId ?? 0) ?? null;
    // It was paused, deleted or moved to another address since.
    if (heartbeat === null) return 0;
    const counted = countedPings(pinged.taken, heartbeat.settings);
    const folded = foldPings(
      heartbeat,
      counted.map(({ ping }) => ping),
    );
    const { monitorId: id, version } = heartbeat.row;
    writes.push({ id, version, record: folded.record, pings: folded.stored });
    if (folded.change !== null) {
      changes.push({ heartbeat, ...folded.change, deadlineAt: folded.record.deadlineAt });
    }
    const last = counted[folded.taken - 1];
    // Pings before it that do not count are answered with it.
    return folded.taken === counted.length || last === undefined ? pinged.taken.length : pinged.taken.indexOf(last) + 1;
  });
  await writePings(tx, writes, toDecoys(planned));
  await applyHeartbeatChanges(tx, deps, changes, now);
  return taken;
}
