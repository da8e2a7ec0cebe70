import type { Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { deleteInSteps } from "#control-plane/core/database/upkeep.ts";
import {
  deleteBefore,
  deleteOldest,
  deleteSurplus,
  sumAccount,
  sumAll,
} from "#control-plane/watching/pictures/upkeep-store.ts";

/** Limits of the space of pictures, in octets of PNG. */
export interface PictureSpace {
  readonly perAccount: number;
  readonly total: number;
}

/** A hundred monitors with 20 pictures of 500 KB each, and twenty such accounts. */
export const PICTURE_SPACE: PictureSpace = { perAccount: 1024 ** 3, total: 20 * 1024 ** 3 };

/** Maximum number of pictures of a monitor. Those in use are kept in any case; there are at most five of them. */
const MOST_PER_MONITOR = 20;
const DELETED_AT_ONCE = 500;

/**
 * Makes room after pictures of a monitor were stored, in the same transaction: deletes unused ones, the oldest first.
 * Returns false if the account still has more than its limit: then the transaction must be rolled back.
 */
export async function makeRoom(
  tx: Transaction,
  { accountId, monitorId }: { readonly accountId: number; readonly monitorId: number },
  { perAccount }: PictureSpace,
): Promise<boolean> {
  await deleteSurplus(tx, monitorId, MOST_PER_MONITOR);
  for (;;) {
    const surplus = (await sumAccount(tx, accountId)) - perAccount;
    if (surplus <= 0) return true;
    if ((await deleteOldest(tx, accountId, surplus)) === 0) return false;
  }
}

/**
 * Deletes unused pictures after their retention and those beyond the limit of the installation. Returns whether there is
 * still room for more. Rejects while the database is away.
 */
export async function sweepPictures(sql: Sql, before: Date, { total }: PictureSpace): Promise<boolean> {
  await deleteInSteps(DELETED_AT_ONCE, (limit) => deleteBefore(sql, before, limit));
  for (;;) {
    const surplus = (await sumAll(sql)) - total;
    if (surplus <= 0) return true;
    if ((await deleteOldest(sql, null, surplus)) === 0) return false;
  }
}
