import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { acceptLatest, deleteVisuals, insertVisuals, readVisualFacts } from "#control-plane/watching/pictures/store.ts";
import type { CheckFault } from "#control-plane/outages/state/state.ts";

/** What the pictures of a visual monitor show. */
export interface MonitorPictures {
  readonly accepted: { readonly pictureId: number; readonly at: Date } | null;
  /** `ratio`: percent of the pixels that differ from the accepted picture. */
  readonly latest: {
    readonly pictureId: number;
    readonly at: Date;
    readonly ratio: number;
    /** Shows what differs; null: less than the threshold does. */
    readonly differenceId: number | null;
  } | null;
  /** Why the newest check gave no picture; null: it gave one. */
  readonly fault: CheckFault | null;
}

/** Reads the pictures of monitors, by id; monitors of other check types are missing. */
export async function readMonitorPictures(
  sql: Queryable,
  ids: readonly number[],
): Promise<ReadonlyMap<number, MonitorPictures>> {
  const rows = await readVisualFacts(sql, ids);
  return new Map(
    rows.map(({ monitorId, acceptedId, acceptedAt, latestId, latestAt, latestRatio, differenceId, fault }) => [
      monitorId,
      {
        accepted: acceptedId === null || acceptedAt === null ? null : { pictureId: acceptedId, at: acceptedAt },
        latest:
          latestId === null || latestAt === null
            ? null
            : { pictureId: latestId, at: latestAt, ratio: latestRatio ?? 0, differenceId },
        fault: fault === null ? null : (JSON.parse(fault) as CheckFault),
      },
    ]),
  );
}

/** Begins with no picture. `basis`: see kinds/visual-basis.ts; pictures taken with another one are dropped. */
export async function beginPictures(
  tx: Transaction,
  monitors: readonly { readonly id: number; readonly basis: string }[],
): Promise<void> {
  await insertVisuals(tx, monitors);
}

/** Deletes all pictures of monitors. */
export async function removePictures(tx: Transaction, ids: readonly number[]): Promise<void> {
  await deleteVisuals(tx, ids);
}

/** Accepts the newest picture: from now on pages are compared with it. Returns false if there is none. */
export async function acceptPicture(tx: Transaction, id: number, now: Date): Promise<boolean> {
  return acceptLatest(tx, id, now);
}
