import type { Clock } from "#shared/clock.ts";
import type { GuardedDatabase } from "#control-plane/database/guarded.ts";
import type { ReplicaInfo } from "#control-plane/dispatch/presence.ts";
import type { OwnAttachments } from "#control-plane/probes/presence/attachments.ts";
import { deadBefore } from "#control-plane/probes/presence/dead-replicas.ts";
import { removeReplica, writePresence } from "#control-plane/probes/presence/store.ts";

/** Attached agents are dated in the database so often, milliseconds. */
const REFRESH_MS = 30_000;
/** Changes of one statement. */
const MOST_CHANGES = 500;

/** Writes this replica's part of the picture: that it lives, and who is attached to it. */
interface SignOfLife {
  /** A sign of life is to be written in the next round, also without changes. */
  demand(): void;
  /** Whether there is anything to write. */
  isDue(): boolean;
  /** Writes one statement. Rejects where the database cannot be used; it is due as before then. */
  write(self: ReplicaInfo): Promise<void>;
  /** Removes this replica and dates the leave of its agents. Rejects where the database cannot be used. */
  remove(self: ReplicaInfo): Promise<void>;
}

/** What a sign of life needs. */
interface SignOfLifeDeps {
  readonly database: Pick<GuardedDatabase, "run">;
  readonly clock: Clock;
  readonly attachments: OwnAttachments;
}

/** The replica counts as started now; the others are told of it with the first write. */
export function createSignOfLife({ database, clock, attachments }: SignOfLifeDeps): SignOfLife {
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
      const word = {
        replicaId: id,
        address,
        startedAt,
        now,
        horizon: deadBefore(now),
        announce: !isAnnounced,
        changes,
        stillHere: isRefresh ? attachments.attachedIds() : [],
      };
      try {
        await database.run((sql) => writePresence(sql, word));
      } catch (error) {
        attachments.putBack(changes);
        throw error;
      }
      isDemanded = false;
      isAnnounced = true;
      if (isRefresh) refreshedAt = monotonic;
    },
    async remove({ id }) {
      const goodbye = { replicaId: id, now: clock.now(), left: attachments.knownIds() };
      await database.run((sql) => removeReplica(sql, goodbye));
    },
  };
}
