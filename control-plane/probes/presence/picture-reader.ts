import type { Clock } from "#shared/clock.ts";
import type { GuardedDatabase } from "#control-plane/database/guarded.ts";
import type { AbsentAgent, ReplicaInfo } from "#control-plane/dispatch/presence.ts";
import type { OwnAttachments } from "#control-plane/probes/presence/attachments.ts";
import { deadBefore } from "#control-plane/probes/presence/dead-replicas.ts";
import { BLANK, draw, sameProbes, sameReplicas, type Picture } from "#control-plane/probes/presence/picture.ts";
import { readPresence } from "#control-plane/probes/presence/store.ts";

/** Keeps this replica's copy of the picture. */
interface PictureReader {
  picture(): Picture;
  /** Agents of the picture that are not attached here; the same array until something in it changes. */
  absent(): readonly AbsentAgent[];
  /** An agent attached here or left. */
  forgetAbsent(): void;
  /** The picture is to be read in the next round. */
  demand(): void;
  isDue(): boolean;
  /** Reads the picture, and has the attachments compared with it. Rejects where the database cannot be used. */
  read(self: ReplicaInfo): Promise<{ readonly haveReplicasChanged: boolean }>;
}

/** What a reader needs. */
interface PictureReaderDeps {
  readonly database: Pick<GuardedDatabase, "run">;
  readonly clock: Pick<Clock, "now">;
  readonly attachments: OwnAttachments;
}

/** A blank picture, to be read in the first round. */
export function createPictureReader({ database, clock, attachments }: PictureReaderDeps): PictureReader {
  let picture = BLANK;
  let absent: readonly AbsentAgent[] | null = null;
  let isDemanded = true;
  return {
    picture: () => picture,
    absent() {
      absent ??= Array.from(picture.probes.values()).filter(({ agent }) => attachments.get(agent.id) === null);
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
      // Cleared before the statement: what is demanded meanwhile may be too late for it.
      isDemanded = false;
      try {
        const reading = await database.run((sql) => readPresence(sql, self.id, deadBefore(clock.now())));
        const before = picture;
        picture = draw(reading, self, before);
        if (!sameProbes(before, picture)) absent = null;
        attachments.compare(reading.own);
        return { haveReplicasChanged: !sameReplicas(before, picture) };
      } catch (error) {
        isDemanded = true;
        throw error;
      }
    },
  };
}
