import type { App } from "#control-plane/core/app.ts";
import type { Limiter, CountedCallback, LimitKind } from "#control-plane/http/access/ports.ts";
import type { Queryable } from "#control-plane/core/database/connect.ts";
import type { GuardedDatabase } from "#control-plane/core/database/guarded.ts";
import {
  countRequests,
  deleteCounts,
  pruneCounts,
  type RequestsToCount,
  type RequestCount,
} from "#control-plane/http/limits/store.ts";
import { windowsAt, type Windows } from "#control-plane/http/access/windows.ts";
import type { Metrics } from "#control-plane/core/metrics.ts";
import { DatabaseAway } from "#control-plane/core/database/database-away.ts";
import { createPump } from "#control-plane/core/database/pump.ts";
import type { Plan } from "#control-plane/core/plans.ts";
import type { LimitState } from "#control-plane/http/access/limit-state.ts";

/** The limiter with its database and its housekeeping. */
interface AccountLimits extends Limiter {
  /** Deletes the counts of an account that is being erased. */
  forget(sql: Queryable, accountId: number): Promise<void>;
  close(): Promise<void>;
}

const PRUNE_EVERY_MS = 3_600_000;

/** Opens the account limits of one replica. They alone use `database`, and close it. */
export function createAccountLimits({
  clock,
  metrics,
  database,
}: Pick<App, "clock"> & {
  readonly metrics: Pick<Metrics, "limitStatements" | "limitRequests">;
  readonly database: GuardedDatabase;
}): AccountLimits {
  const limiter = createLimiter({
    clock,
    count: (windows, asks) => database.run((sql) => countRequests(sql, windows, asks)),
    onStatement: (requests) => {
      metrics.limitStatements.inc();
      metrics.limitRequests.inc(requests);
    },
  });
  const timer = setInterval(() => {
    const { day } = windowsAt(clock.now().getTime());
    // Old rows do no harm: if this fails, the next round an hour later deletes them.
    database.run((sql) => pruneCounts(sql, day - 1)).catch(() => {});
  }, PRUNE_EVERY_MS);
  timer.unref();
  return {
    take: (accountId, plan, kind, counted) => limiter.take(accountId, plan, kind, counted),
    forget: deleteCounts,
    close() {
      clearInterval(timer);
      return database.close();
    },
  };
}

/** Requests of one account that wait for the next statement. */
interface Group {
  // After a change of plan, requests with the old and the new plan can wait here together; the latest plan applies.
  plan: Plan;
  readonly waiting: CountedCallback[];
}

/** Maximum number of accounts in one statement; the others wait for the next. */
const MOST_ACCOUNTS = 1_000;
/** Maximum number of waiting requests. Above it a request is refused immediately, which is better than a long wait. */
const MOST_WAITING = 50_000;

/**
 * Creates a limiter that counts in batches: requests that wait when a statement returns are counted by the next one.
 * `count` runs the statement `countRequests` of limits/store.ts on a guarded connection and rejects while the database
 * is away. `onStatement` receives the number of requests that a statement counted.
 */
export function createLimiter({
  clock,
  count,
  onStatement,
}: Pick<App, "clock"> & {
  readonly count: (windows: Windows, asks: readonly RequestsToCount[]) => Promise<readonly RequestCount[]>;
  readonly onStatement?: (requests: number) => void;
}): Limiter {
  const groups: Readonly<Record<LimitKind, Map<number, Group>>> = { "minute-and-day": new Map(), minute: new Map() };
  let waiting = 0;

  /** Takes the requests for one statement. An account has one row in it, so its two kinds need two statements. */
  function takeBatch(): { asks: RequestsToCount[]; waiters: CountedCallback[][] } {
    const asks: RequestsToCount[] = [];
    const waiters: CountedCallback[][] = [];
    const taken = new Set<number>();
    for (const kind of ["minute-and-day", "minute"] as const) {
      for (const [accountId, group] of groups[kind]) {
        if (asks.length === MOST_ACCOUNTS) break;
        if (taken.has(accountId)) continue;
        taken.add(accountId);
        groups[kind].delete(accountId);
        asks.push({
          accountId,
          requests: group.waiting.length,
          countsDay: kind === "minute-and-day",
          minuteLimit: group.plan.requestsPerMinute,
          dayLimit: group.plan.requestsPerDay,
        });
        waiters.push(group.waiting);
        waiting -= group.waiting.length;
      }
    }
    return { asks, waiters };
  }

  async function flush(): Promise<void> {
    const { asks, waiters } = takeBatch();
    if (asks.length === 0) return;
    if (waiting > 0) pump.wake();
    let rows: readonly RequestCount[];
    try {
      rows = await count(windowsAt(clock.now().getTime()), asks);
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      // Requests that arrived meanwhile would wait just as long for the same error.
      for (const counted of [...waiters.flat(), ...takeAll()]) counted(failure, null);
      return;
    }
    onStatement?.(asks.reduce((sum, ask) => sum + ask.requests, 0));
    const counts = new Map(rows.map((row) => [row.accountId, row]));
    asks.forEach((ask, index) => settle(ask, counts.get(ask.accountId), waiters[index] ?? []));
  }

  function takeAll(): CountedCallback[] {
    const all = Object.values(groups).flatMap((kind) => Array.from(kind.values(), (group) => group.waiting).flat());
    for (const kind of Object.values(groups)) kind.clear();
    waiting = 0;
    return all;
  }

  const pump = createPump(flush);

  return {
    take(accountId, plan, kind, counted) {
      if (waiting >= MOST_WAITING) {
        setImmediate(counted, new DatabaseAway("too many requests wait to be counted"), null);
        return;
      }
      waiting += 1;
      const group = groups[kind].get(accountId);
      if (group === undefined) {
        groups[kind].set(accountId, { plan, waiting: [counted] });
      } else {
        group.plan = plan;
        group.waiting.push(counted);
      }
      pump.wake();
    },
  };
}

function settle(ask: RequestsToCount, count: RequestCount | undefined, waiters: readonly CountedCallback[]): void {
  waiters.forEach((counted, rank) => {
    if (count === undefined) counted(new Error(`account ${ask.accountId} was not counted`), null);
    else counted(null, limitStateOf(ask, count, rank));
  });
}

/**
 * Returns the state of the limits after one of the requests that a statement counted together. `rank` is its position,
 * 0 first. The first requests are the granted ones. Of the others, those that the minute's limit alone would admit are
 * refused by the day's limit, the rest by the minute's.
 */
function limitStateOf(ask: RequestsToCount, count: RequestCount, rank: number): LimitState {
  const minuteBefore = count.minuteCount - count.granted;
  const dayBefore = count.dayCount - (ask.countsDay ? count.granted : 0);
  const admitted = rank < count.granted;
  const taken = admitted ? rank + 1 : count.granted;
  return {
    denied: admitted ? null : minuteBefore + rank < ask.minuteLimit ? "day" : "minute",
    minuteLimit: ask.minuteLimit,
    minuteRemaining: Math.max(0, ask.minuteLimit - minuteBefore - taken),
    minute: count.minute,
    dayLimit: ask.dayLimit,
    dayRemaining: Math.max(0, ask.dayLimit - dayBefore - (ask.countsDay ? taken : 0)),
    day: count.day,
  };
}
