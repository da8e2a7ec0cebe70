import type { App } from "#control-plane/core/app.ts";
import type { GuardedDatabase } from "#control-plane/core/database/guarded.ts";
import type { AbsentAgent, ReplicaInfo } from "#control-plane/checks/dispatch/presence.ts";
import type { OwnAttachments } from "#control-plane/checks/probes/presence/attachments.ts";
import { deadBefore } from "#control-plane/checks/probes/presence/dead-replicas.ts";
import {
  buildSnapshot,
  EMPTY_SNAPSHOT,
  haveSameProbes,
  haveSameReplicas,
  type PresenceSnapshot,
} from "#control-plane/checks/probes/presence/snapshot.ts";
import { readPresence } from "#control-plane/checks/probes/presence/store.ts";

/** Holds this replica's latest snapshot of presence and reads new ones. */
interface SnapshotReader {
  snapshot(): PresenceSnapshot;
  /**
   * Returns the agents of the snapshot that are not attached here. Returns the same array until one of them changes.
   */
  absent(): readonly AbsentAgent[];
  /** Discards the cached result of `absent`. Call it when an agent attached here or left. */
  forgetAbsent(): void;
  /** Requests a read in the next round. */
  demand(): void;
  /** Reports whether a read is requested. */
  isDue(): boolean;
  /** Reads a snapshot and compares the attachments with it. Rejects if the database is not available. */
  read(self: ReplicaInfo): Promise<{ readonly haveReplicasChanged: boolean }>;
}

/** Creates a reader with an empty snapshot, which reads in the first round. */
export function createSnapshotReader({
  database,
  clock,
  attachments,
}: Pick<App, "clock"> & {
  readonly database: Pick<GuardedDatabase, "run">;
  readonly attachments: OwnAttachments;
}): SnapshotReader {
  let snapshot = EMPTY_SNAPSHOT;
  let absent: readonly AbsentAgent[] | null = null;
  let isDemanded = true;
  return {
    snapshot: () => snapshot,
    absent() {
      absent ??= Array.from(snapshot.probes.values()).filter(({ agent }) => attachments.get(agent.id) === null);
      return absent;
    },
    forgetAbsent() {
      absent = null;
    },
    demand() {
      isDemanded = true;
    },
    isDue: () => isDemanded,
    async read(self) {
      // Cleared before the statement: a later request can come too late for this read.
      isDemanded = false;
      try {
        const reading = await database.run((sql) => readPresence(sql, self.id, deadBefore(clock.now())));
        const before = snapshot;
        snapshot = buildSnapshot(reading, self, before);
        if (!haveSameProbes(before, snapshot)) absent = null;
        attachments.compare(reading.own);
        return { haveReplicasChanged: !haveSameReplicas(before, snapshot) };
      } catch (error) {
        isDemanded = true;
        throw error;
      }
    },
  };
}
