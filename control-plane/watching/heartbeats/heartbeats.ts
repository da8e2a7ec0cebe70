import type { FieldProblem } from "#shared/schema/problem.ts";
import type { App } from "#control-plane/core/app.ts";
import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { deadlineOf } from "#control-plane/watching/heartbeats/apply-ping.ts";
import { findCronProblem } from "#control-plane/watching/heartbeats/cron.ts";
import type { PingKind } from "#control-plane/watching/heartbeats/ping.ts";
import { readRecord } from "#control-plane/watching/heartbeats/rows.ts";
import {
  deleteHeartbeats,
  insertHeartbeats,
  lockRecords,
  readHeartbeats,
  resetHeartbeats,
  updateDeadlines,
  updateToken,
  type ShownHeartbeat,
} from "#control-plane/watching/heartbeats/store.ts";
import { createToken, openToken } from "#control-plane/watching/heartbeats/token.ts";
import type { HeartbeatSettings } from "#control-plane/outages/kinds/heartbeat.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";
import { openTimeZone } from "#control-plane/core/time-zone.ts";

/** What the pings of a heartbeat say. */
export interface HeartbeatFacts {
  /** The address of its pings, which is a secret. */
  readonly url: string;
  readonly lastPingAt: Date | null;
  readonly lastKind: PingKind | null;
  readonly lastDurationMs: number | null;
  /** Start of the oldest open run. */
  readonly runStartedAt: Date | null;
  readonly deadlineAt: Date | null;
}

/** The addresses of heartbeats. Functions with a transaction belong to it. */
export interface Heartbeats {
  /** Creates new addresses for monitors that are heartbeats from now on. */
  insert(tx: Transaction, ids: readonly number[]): Promise<void>;
  /** Replaces the address of a heartbeat; the present one stops working. */
  rotate(tx: Transaction, id: number): Promise<void>;
  /** Returns what is known about heartbeats by id; other monitors are missing. */
  facts(sql: Queryable, ids: readonly number[]): Promise<ReadonlyMap<number, HeartbeatFacts>>;
}

/** Creates the addresses of heartbeats. `baseUrl` is the address of the service, without a slash at its end. */
export function createHeartbeats({
  random,
  encryption,
  baseUrl,
}: Pick<App, "random"> & { readonly encryption: Encryption; readonly baseUrl: string }): Heartbeats {
  const newToken = () => createToken(random, encryption);
  return {
    insert: (tx, ids) =>
      insertHeartbeats(
        tx,
        ids.map((id) => ({ id, ...newToken() })),
      ),
    rotate: (tx, id) => updateToken(tx, id, newToken()),
    async facts(sql, ids) {
      const rows = await readHeartbeats(sql, ids);
      return new Map(rows.map((row) => [row.monitorId, factsOf(row)] as const));
    },
  };

  function factsOf(row: ShownHeartbeat): HeartbeatFacts {
    const { openRuns } = readRecord(row);
    const [oldest] = openRuns;
    return {
      url: `${baseUrl}/api/heartbeat/${openToken(encryption, row.tokenSealed)}`,
      lastPingAt: row.lastPingAt,
      lastKind: row.lastKind,
      lastDurationMs: row.lastDurationMs,
      runStartedAt: oldest === undefined ? null : new Date(oldest.startedAt),
      deadlineAt: row.deadlineAt,
    };
  }
}

/** Removes the addresses and the pings of monitors that are no heartbeats any more. */
export async function removeHeartbeats(tx: Transaction, ids: readonly number[]): Promise<void> {
  await deleteHeartbeats(tx, ids);
}

/** Locks those among the monitors that are heartbeats, so that several changes of them meet no ping halfway. */
export async function lockHeartbeats(tx: Transaction, ids: readonly number[]): Promise<void> {
  await lockRecords(tx, ids);
}

/** Makes those among the monitors that are heartbeats wait for their first ping, as new ones do. */
export async function restartHeartbeats(tx: Transaction, ids: readonly number[]): Promise<void> {
  await resetHeartbeats(tx, ids);
}

/** Adapts the deadlines of active heartbeats to new settings. */
export async function rescheduleHeartbeats(
  tx: Transaction,
  heartbeats: readonly { readonly id: number; readonly settings: HeartbeatSettings }[],
  now: Date,
): Promise<void> {
  const settingsOf = new Map(heartbeats.map(({ id, settings }) => [id, settings]));
  const rows = await lockRecords(tx, [...settingsOf.keys()]);
  const deadlines = rows.flatMap((row) => {
    const settings = settingsOf.get(row.monitorId);
    if (settings === undefined || row.deadlineAt === null) return [];
    const at = deadlineOf(readRecord(row), settings);
    // A shorter period must not make a heartbeat late that was in time until now.
    const earliest = now.getTime() + settings.grace_seconds * 1_000;
    return [{ id: row.monitorId, deadlineAt: at === null ? null : new Date(Math.max(at, earliest)) }];
  });
  if (deadlines.length > 0) await updateDeadlines(tx, deadlines);
}

/** Returns the problem with the schedule of a heartbeat; null: none. */
export function findScheduleProblem({ cron, timezone }: HeartbeatSettings): FieldProblem | null {
  if (openTimeZone(timezone) === null) {
    const message = "must be the name of a time zone, such as Europe/Berlin";
    return { field: "heartbeat.timezone", reason: "type", message };
  }
  const message = cron === null ? null : findCronProblem(cron);
  return message === null ? null : { field: "heartbeat.cron", reason: "type", message };
}
