import type { Logger } from "pino";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { PictureRecorder } from "#control-plane/watching/checking/watch/picture-finding.ts";
import { startUpkeep } from "#control-plane/core/database/upkeep.ts";
import { createComparer } from "#control-plane/watching/pictures/compare/comparer.ts";
import { recordPicture, type RecordDeps } from "#control-plane/watching/pictures/record.ts";
import { listPictures, readPicture, updateFault } from "#control-plane/watching/pictures/store.ts";
import { PICTURE_SPACE, sweepPictures, type PictureSpace } from "#control-plane/watching/pictures/upkeep/space.ts";
import type { Teardown } from "#control-plane/core/teardown.ts";

/** A stored picture. */
interface StoredPicture {
  /** PNG. */
  readonly content: Uint8Array;
  /** Lower-case hex. */
  readonly sha256: string;
}

/** The pictures of visual monitors. */
export interface Pictures extends PictureRecorder {
  /** Returns a picture of a monitor; null if it has none with this id. */
  find(monitorId: number, id: number): Promise<StoredPicture | null>;
  close(): void;
}

/** Dependencies of the pictures. */
interface PicturesDeps extends Omit<RecordDeps, "comparer" | "space" | "hasRoom"> {
  readonly log: Logger;
  /** How long pictures are kept that are not in use, in milliseconds. */
  readonly retentionMs: number;
  readonly space?: PictureSpace;
}

const UPKEEP_MS = 600_000;

/** Opens the pictures of one replica. Data exports of accounts name theirs, without the contents. */
export function openPictures(deps: PicturesDeps & { readonly accounts: Accounts }, teardown: Teardown): Pictures {
  const pictures = createPictures(deps);
  teardown.push(() => pictures.close());
  deps.accounts.addExporter("pictures", listPictures);
  return pictures;
}

/** Creates the pictures of one replica. The thread that compares them starts with the first picture. */
export function createPictures(deps: PicturesDeps): Pictures {
  const { sql, clock, log, retentionMs, space = PICTURE_SPACE } = deps;
  const comparer = createComparer();
  let hasRoom = true;
  const recording: RecordDeps = { ...deps, comparer, space, hasRoom: () => hasRoom };
  const upkeep = startUpkeep({
    everyMs: UPKEEP_MS,
    async round() {
      hasRoom = await sweepPictures(sql, new Date(clock.now().getTime() - retentionMs), space);
      if (!hasRoom) log.warn({ octets: space.total }, "pictures: the space of the installation is used up");
    },
    name: "pictures: housekeeping",
    log,
  });
  return {
    record: (taken) => recordPicture(recording, taken),
    noteFault: (monitorId, fault) => updateFault(sql, monitorId, JSON.stringify(fault)),
    find: (monitorId, id) => readPicture(sql, monitorId, id),
    close() {
      upkeep.stop();
      comparer.close();
    },
  };
}
