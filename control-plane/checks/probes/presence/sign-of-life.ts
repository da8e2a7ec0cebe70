import type { App } from "#control-plane/core/app.ts";
import type { GuardedDatabase } from "#control-plane/core/database/guarded.ts";
import type { ReplicaInfo } from "#control-plane/checks/dispatch/presence.ts";
import type { OwnAttachments } from "#control-plane/checks/probes/presence/attachments.ts";
import { deadBefore } from "#control-plane/checks/probes/presence/dead-replicas.ts";
import { removeReplica, writePresence } from "#control-plane/checks/probes/presence/store.ts";

/** Interval in milliseconds at which last_seen_at of attached agents is updated in the database. */
const REFRESH_MS = 30_000;
/** Maximum number of changes in one statement. */
const MOST_CHANGES = 500;

/** Writes this replica's rows: its sign of life and the agents that are attached to it. */
interface SignOfLife {
  /** Requests a sign of life in the next round, even without changes. */
  demand(): void;
  /** Reports whether there is anything to write. */
  isDue(): boolean;
  /** Runs one statement. If the database is not available it rejects, and the write stays due. */
  write(self: ReplicaInfo): Promise<void>;
  /** Removes this replica and updates last_seen_at of its agents. Rejects if the database is not available. */
  remove(self: ReplicaInfo): Promise<void>;
}

/** Creates the writer. The replica's start time is now; the first write notifies the others. */
export function createSignOfLife({
  database,
  clock,
  attachments,
}: Pick<App, "clock"> & {
  readonly database: Pick<GuardedDatabase, "run">;
  readonly attachments: OwnAttachments;
}): SignOfLife {
  const startedAt = clock.now();
  let isDemanded = true;
  let isAnnounced = false;
  let refreshedAt = clock.monotonic();
  return {
    demand() {
      isDemanded = true;
    },
    isDue: () => isDemanded || attachments.hasChanges(),
    async write({ id, address }) {
      const [now, monotonic] = [clock.now(), clock.monotonic()];
      const isRefresh = monotonic - refreshedAt >= REFRESH_MS;
      const changes = attachments.takeChanges(MOST_CHANGES);
      const update = {
        replicaId: id,
        address,
        startedAt,
        now,
        horizon: deadBefore(now),
        announce: !isAnnounced,
        changes,
        stillHere: isRefresh ? attachments.attachedIds() : [],
        // Each agent is attached to all replicas: one of them is enough.
        seenSince: new Date(now.getTime() - REFRESH_MS / 2),
      };
      try {
        await database.run((sql) => writePresence(sql, update));
      } catch (error) {
        attachments.putBack(changes);
        throw error;
      }
      isDemanded = false;
      isAnnounced = true;
      if (isRefresh) refreshedAt = monotonic;
    },
    async remove({ id }) {
      const removal = { replicaId: id, now: clock.now(), left: attachments.knownIds() };
      await database.run((sql) => removeReplica(sql, removal));
    },
  };
}
