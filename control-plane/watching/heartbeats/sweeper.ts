import type { App } from "#control-plane/core/app.ts";
import { isDatabaseAway } from "#control-plane/core/database/database-away.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import {
  applyHeartbeatChanges,
  openHeartbeat,
  type HeartbeatChange,
} from "#control-plane/watching/heartbeats/apply-changes.ts";
import {
  listDue,
  lockHeartbeats,
  moveSweeps,
  type LockedHeartbeat,
} from "#control-plane/watching/heartbeats/changes-store.ts";
import type { Liveness } from "#control-plane/watching/heartbeats/liveness.ts";
import type { HeartbeatMetrics } from "#control-plane/watching/heartbeats/metrics.ts";
import type { PingRecorder } from "#control-plane/watching/heartbeats/pings/recorder.ts";
import { decideSweep } from "#control-plane/watching/heartbeats/decide-sweep.ts";
import { judgeNext } from "#control-plane/watching/heartbeats/judge.ts";
import type { ApplyDeps } from "#control-plane/watching/checking/watch/apply-changes.ts";

/** Sweeps heartbeats at their deadlines. */
interface Sweeper {
  /** Sweeps all that are due now. Returns when none is left, or those that are left belong to another replica. */
  sweep(): Promise<void>;
  /** Starts no further sweeps, and waits for those that are running. */
  stop(): Promise<void>;
}

const EVERY_MS = 250;
/** Maximum number of heartbeats of one transaction. */
const MOST_AT_ONCE = 300;

/** Time until the next sweep of a row that cannot be read, in milliseconds. */
const UNREADABLE_MS = 60_000;

/** Times of a sweep, Unix milliseconds: the present one, and the one up to which deadlines are judged. */
interface SweepTimes {
  readonly now: number;
  readonly until: number;
}

/** What a sweep changes about a heartbeat. */
type RowDecision =
  | { readonly kind: "wait"; readonly sweepAt: number | null }
  | (HeartbeatChange & { readonly kind: "change" });

/**
 * Starts the sweeper of one replica. Several replicas share the work: each leaves out what others have locked. `pings`
 * are those that wait in this replica.
 */
export function startSweeper({
  sql,
  clock,
  log,
  timers,
  metrics,
  liveness,
  pings,
  changes,
}: Pick<App, "sql" | "clock" | "log" | "timers"> & {
  readonly metrics: Pick<HeartbeatMetrics, "lag">;
  readonly liveness: Liveness;
  readonly pings: Pick<PingRecorder, "oldestArrival">;
  readonly changes: ApplyDeps;
}): Sweeper {
  let isStopped = false;
  let running: Promise<void> | null = null;

  async function sweepAll(): Promise<void> {
    for (;;) {
      if (isStopped) return;
      // A replica that was frozen with all others must find the outage before it finds what is late. So it notes first,
      // and sweeps only what was due before that: it can be frozen at any time after.
      const now = clock.now().getTime();
      const until = judgeableUntil(now, pings.oldestArrival());
      await liveness.note();
      const ids = await listDue(sql, new Date(until), MOST_AT_ONCE);
      if (ids.length === 0 || (await sweepListed(ids, { now, until })) === 0) return;
    }
  }

  /** Sweeps heartbeats as of the time `until`. Returns how many there were. */
  async function sweepListed(ids: readonly number[], { now, until }: SweepTimes): Promise<number> {
    const { count, deadlines } = await transact(sql, async (tx) => {
      const locked = await lockHeartbeats(tx, ids, { skip: true, stopsPings: true });
      const made: HeartbeatChange[] = [];
      const waiting: { monitorId: number; sweepAt: number | null }[] = [];
      for (const row of locked) {
        // Another replica has swept it since it was listed.
        if (row.sweepAt === null || row.sweepAt.getTime() > until) continue;
        const decided = decideRow(row, until);
        if (decided.kind === "wait") waiting.push({ monitorId: row.monitorId, sweepAt: decided.sweepAt });
        else made.push(decided);
      }
      if (waiting.length > 0) await moveSweeps(tx, waiting);
      await applyHeartbeatChanges(tx, changes, made, now);
      return {
        count: made.length + waiting.length,
        deadlines: made.flatMap(({ cause, at }) => (cause === "time" ? at : [])),
      };
    });
    const committedAt = clock.now().getTime();
    for (const at of deadlines) metrics.lag.observe(Math.max(0, committedAt - at) / 1_000);
    return count;
  }

  /** Decides about one row. One that cannot be read waits, so that it does not hold up those beside it. */
  function decideRow(row: LockedHeartbeat, now: number): RowDecision {
    try {
      const heartbeat = openHeartbeat(row);
      if (heartbeat === null) return { kind: "wait", sweepAt: null };
      // The replica that recorded the ping can have ended before the state followed it.
      const judged = judgeNext(heartbeat);
      if (judged !== null) return { kind: "change", cause: "ping", heartbeat, ...judged };
      const decided = decideSweep({ ...heartbeat, outageEndedAt: row.outageEndedAt?.getTime() ?? null }, now);
      return decided.kind === "wait" ? decided : { cause: "time", heartbeat, ...decided };
    } catch (error) {
      log.error(
        { err: error, monitor: row.monitorId },
        "heartbeats: a row cannot be read; it is visited again in a minute",
      );
      return { kind: "wait", sweepAt: now + UNREADABLE_MS };
    }
  }

  async function sweep(): Promise<void> {
    running ??= sweepAll().finally(() => {
      running = null;
    });
    await running;
  }

  const sweeps = timers.repeat(EVERY_MS, () =>
    sweep().catch((error: unknown) => {
      // Late heartbeats stay unnoticed as long as this lasts; while the database is away, everything does.
      const level = isDatabaseAway(error) ? "debug" : "error";
      log[level]({ err: error }, "heartbeats: visits failed; they are repeated");
    }),
  );
  return {
    sweep,
    async stop() {
      isStopped = true;
      sweeps.stop();
      await running?.catch(() => {});
    },
  };
}

/**
 * Returns the time up to which deadlines can be judged, Unix milliseconds: a ping that arrived in time and is not recorded
 * yet must not be missed. `oldestArrival` is when the first ping arrived that waits in this replica; null: none waits.
 */
export function judgeableUntil(now: number, oldestArrival: number | null): number {
  return oldestArrival === null ? now : Math.min(now, oldestArrival - 1);
}
