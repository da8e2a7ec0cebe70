import type { Queryable } from "#control-plane/core/database/connect.ts";
import { findNames, findSummaries } from "#control-plane/outages/state/summary-store.ts";
import { decodeState } from "#control-plane/outages/state/encoding.ts";
import type { MonitorState } from "#control-plane/outages/state/state.ts";

/** What status pages know about a monitor. */
export interface MonitorSummary {
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
  /** Beginning of its newest check that has found it up or down; null if there is none, or it is not scheduled. */
  readonly lastCheckedAt: Date | null;
  /** When it is checked; null if it is paused, or nothing is planned for its check type. */
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
export async function summariesOf(
  sql: Queryable,
  accountId: number,
  ids: readonly number[],
): Promise<ReadonlyMap<number, MonitorSummary>> {
  if (ids.length === 0) return new Map();
  const rows = await findSummaries(sql, accountId, ids);
  return new Map(
    rows.map(({ state: text, intervalSeconds, timeoutSeconds, updatedAt, goodAt, ...row }) => {
      const state = decodeState(text);
      const { status, isDegraded, changedAt: statusChangedAt } = state;
      const changedAt = new Date(Math.max(updatedAt.getTime(), statusChangedAt ?? 0));
      const schedule = intervalSeconds === null || timeoutSeconds === null ? null : { intervalSeconds, timeoutSeconds };
      const lastCheckedAt = schedule === null ? null : newestVerdict(state, goodAt);
      return [
        row.id,
        { ...row, changedAt, status, isDegraded, lastCheckedAt, schedule: row.isActive ? schedule : null },
      ];
    }),
  );
}

/**
 * Returns when the newest check with a verdict began. One that no probe could run observes nothing. The state forgets
 * the verdicts of locations that have lost their probes: a failing one among them dates from before the last change.
 */
function newestVerdict({ locations, lastKnown, changedAt }: MonitorState, goodAt: Date | null): Date | null {
  const times = Array.from(locations.values(), ({ at }) => at);
  if (goodAt !== null) times.push(goodAt.getTime());
  if (times.length === 0 && lastKnown !== null && changedAt !== null) times.push(changedAt);
  return times.length === 0 ? null : new Date(Math.max(...times));
}
