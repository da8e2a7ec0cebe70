import type { Queryable } from "#control-plane/database/connect.ts";
import { findNames, findShown } from "#control-plane/monitors/shown/store.ts";
import { decodeState } from "#control-plane/monitors/state/encoding.ts";

/** What status pages know about a monitor. */
export interface ShownFacts {
  readonly id: number;
  readonly accountId: number;
  readonly name: string;
  readonly tags: readonly string[];
  readonly isActive: boolean;
  readonly createdAt: Date;
  /** When its settings or its status last changed; when it became degraded, or no longer is, is not recorded. */
  readonly changedAt: Date;
  readonly status: "up" | "down" | "unknown";
  readonly isDegraded: boolean;
  /** Beginning of its newest check; null: there is none. */
  readonly lastCheckedAt: Date | null;
  /** When it is checked; null: it is paused, or nothing is planned for its check type. */
  readonly schedule: { readonly intervalSeconds: number; readonly timeoutSeconds: number } | null;
}

/** Returns the names of those of these monitors that belong to the account. */
export async function namesOf(
  sql: Queryable,
  accountId: number,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  if (ids.length === 0) return new Map();
  return new Map((await findNames(sql, accountId, ids)).map(({ id, name }) => [id, name]));
}

/** Returns those of these monitors that belong to the account, by id. */
export async function shownFactsOf(
  sql: Queryable,
  accountId: number,
  ids: readonly number[],
): Promise<ReadonlyMap<number, ShownFacts>> {
  if (ids.length === 0) return new Map();
  const rows = await findShown(sql, accountId, ids);
  return new Map(
    rows.map(({ state: text, intervalSeconds, timeoutSeconds, updatedAt, ...row }) => {
      const { status, isDegraded, changedAt: statusChangedAt } = decodeState(text);
      const changedAt = new Date(Math.max(updatedAt.getTime(), statusChangedAt ?? 0));
      const schedule = intervalSeconds === null || timeoutSeconds === null ? null : { intervalSeconds, timeoutSeconds };
      return [row.id, { ...row, changedAt, status, isDegraded, schedule: row.isActive ? schedule : null }];
    }),
  );
}
