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
import { readPresence, readPresenceState, type PresenceReading } from "#control-plane/checks/probes/presence/store.ts";

/**
 * Time after which everything is read although nothing seems to have changed, in milliseconds: rows that somebody changed
 * by hand are noticed.
 */
const WHOLE_MS = 60_000;

/** Holds this replica's latest snapshot of presence and reads new ones. */
interface SnapshotReader {
  snapshot(): PresenceSnapshot;
  /**
   * Returns the agents of the snapshot that are not attached here. Returns the same array until one of them changes.
   */
  absent(): readonly AbsentAgent[];
  /** Discards the cached result of `absent`. Call it when an agent attached here or left. */
  forgetAbsent(): void;
  /**
   * Requests a read in the next round: of everything, because something has changed, or of what has changed, if anything
   * has.
   */
  demand(what: "everything" | "changes"): void;
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
  let demanded: "everything" | "changes" | null = "everything";
  /** State of the database when everything was read last. */
  let seen = { revision: "", at: -Infinity };

  async function readEverything(self: ReplicaInfo, replicas: PresenceReading["replicas"]): Promise<boolean> {
    const { probes, own } = await database.run((sql) => readPresence(sql, self.id, deadBefore(clock.now())));
    const before = snapshot;
    snapshot = buildSnapshot({ replicas, probes, own }, self, before);
    if (!haveSameProbes(before, snapshot)) absent = null;
    attachments.compare(own);
    return !haveSameReplicas(before, snapshot);
  }

  return {
    snapshot: () => snapshot,
    absent() {
      absent ??= Array.from(snapshot.probes.values()).filter(({ agent }) => attachments.get(agent.id) === null);
      return absent;
    },
    forgetAbsent() {
      absent = null;
    },
    demand(what) {
      if (demanded !== "everything") demanded = what;
    },
    isDue: () => demanded !== null,
    async read(self) {
      // Cleared before the statement: a later request can come too late for this read.
      const isWhole = demanded === "everything" || clock.monotonic() - seen.at >= WHOLE_MS;
      demanded = null;
      try {
        // The state is read before the rows: what changes between the two is in the next state.
        const { replicas, revision } = await database.run((sql) => readPresenceState(sql, deadBefore(clock.now())));
        if (!isWhole && revision === seen.revision) return { haveReplicasChanged: false };
        const at = clock.monotonic();
        const haveReplicasChanged = await readEverything(self, replicas);
        seen = { revision, at };
        return { haveReplicasChanged };
      } catch (error) {
        demanded = isWhole ? "everything" : (demanded ?? "changes");
        throw error;
      }
    },
  };
}
