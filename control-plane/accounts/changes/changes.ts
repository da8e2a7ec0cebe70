import type { App } from "#control-plane/core/app.ts";
import type { RecordChanges } from "#control-plane/http/access/changes.ts";
import type { Queryable } from "#control-plane/core/database/connect.ts";
import { deleteInSteps, startUpkeep } from "#control-plane/core/database/upkeep.ts";
import {
  countChanges,
  deleteOldChanges,
  insertChanges,
  listChanges,
  readNewestId,
  type ChangeFilter,
} from "#control-plane/accounts/changes/store.ts";
import { showChange, type ShownChange } from "#control-plane/accounts/changes/serialize.ts";

/** The log of changes: who changed what of an account, when and from which address. */
export interface Changes {
  /**
   * Logs what a request changes, but no change that has changed no field. Call it in the transaction of the change, once
   * the account is locked.
   */
  readonly record: RecordChanges;
  /** Lists a page of an account's changes that match a filter, newest first, and their total number. */
  list(
    sql: Queryable,
    accountId: number,
    filter: ChangeFilter,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly rows: readonly ShownChange[]; readonly total: number }>;
  /**
   * Returns the id of an account's newest change; 0: it has none. What was read of an account before is out of date once
   * this id is another one, whichever replica has written.
   */
  newest(accountId: number): Promise<number>;
  /** Returns the newest changes of an account for its data export. */
  export(sql: Queryable, accountId: number): Promise<unknown>;
  /** Stops the housekeeping. */
  close(): void;
}

/** Retention of a change, in milliseconds: one year, also a leap year. */
const KEPT_MS = 366 * 86_400_000;
const SWEEP_MS = 3_600_000;
const DELETED_AT_ONCE = 1_000;
const MOST_EXPORTED = 10_000;
/** A filter that every change matches. */
export const ALL: ChangeFilter = { subject: null, actor: null, from: null, to: null };

/** Opens the log in one replica and starts its housekeeping. */
export function createChanges({ sql, clock, log, timers }: Pick<App, "sql" | "clock" | "log" | "timers">): Changes {
  const upkeep = startUpkeep({
    everyMs: SWEEP_MS,
    round: () => {
      const cutoff = new Date(clock.now().getTime() - KEPT_MS);
      return deleteInSteps(DELETED_AT_ONCE, (limit) => deleteOldChanges(sql, cutoff, limit));
    },
    name: "changes: housekeeping",
    log,
    timers,
  });
  return {
    record: async (tx, set) => {
      const changes = set.changes.filter(({ action, changed }) => action !== "changed" || changed.length > 0);
      if (changes.length > 0) await insertChanges(tx, { ...set, changes }, clock.now());
    },
    async list(on, accountId, filter, page) {
      const rows = await listChanges(on, accountId, filter, page);
      return { rows: rows.map(showChange), total: await countChanges(on, accountId, filter) };
    },
    newest: (accountId) => readNewestId(sql, accountId),
    export: async (on, accountId) =>
      (await listChanges(on, accountId, ALL, { limit: MOST_EXPORTED, offset: 0 })).map(showChange),
    close: () => upkeep.stop(),
  };
}
