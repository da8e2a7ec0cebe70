import type { Clock } from "#shared/clock.ts";
import type { Counted, Kind, Limiter } from "#control-plane/access/ports.ts";
import { DatabaseAway } from "#control-plane/database/database-away.ts";
import { createPump } from "#control-plane/database/pump.ts";
import type { Ask, Count } from "#control-plane/limits/store.ts";
import { verdictOf } from "#control-plane/limits/verdict.ts";
import { windowsAt, type Windows } from "#control-plane/access/windows.ts";
import type { Plan } from "#control-plane/plans/plans.ts";

/** What the limiter stands on. */
interface LimiterDeps {
  readonly clock: Clock;
  /** The one statement of limits/store.ts on a guarded connection; rejects when the database is away. */
  readonly count: (windows: Windows, asks: readonly Ask[]) => Promise<readonly Count[]>;
  /** Told how many requests a statement carried. */
  readonly onStatement?: (requests: number) => void;
}

/** One account's requests that wait for the next statement. */
interface Group {
  // After a change of plan the old and the new row of the table may meet here for a moment; the last word counts.
  plan: Plan;
  readonly waiting: Counted[];
}

// Accounts in one statement; the rest travels in the next.
const MOST_ACCOUNTS = 1_000;
// Requests waiting at once; at a full house an answer now is worth more than a place in the queue.
const MOST_WAITING = 50_000;

/** Counts in batches: whatever waits when the last statement returns travels in the next one. */
export function createLimiter({ clock, count, onStatement }: LimiterDeps): Limiter {
  const groups: Readonly<Record<Kind, Map<number, Group>>> = { "minute-and-day": new Map(), minute: new Map() };
  let waiting = 0;

  /** Takes what fits into one statement; an account has one row there, so its two kinds travel apart. */
  function takeBatch(): { asks: Ask[]; waiters: Counted[][] } {
    const asks: Ask[] = [];
    const waiters: Counted[][] = [];
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
    let rows: readonly Count[];
    try {
      rows = await count(windowsAt(clock.now().getTime()), asks);
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      // Those that came meanwhile would wait as long again for the same answer.
      for (const counted of [...waiters.flat(), ...takeAll()]) counted(failure, null);
      return;
    }
    onStatement?.(asks.reduce((sum, ask) => sum + ask.requests, 0));
    const counts = new Map(rows.map((row) => [row.accountId, row]));
    asks.forEach((ask, index) => settle(ask, counts.get(ask.accountId), waiters[index] ?? []));
  }

  function takeAll(): Counted[] {
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

function settle(ask: Ask, count: Count | undefined, waiters: readonly Counted[]): void {
  waiters.forEach((counted, rank) => {
    if (count === undefined) counted(new Error(`account ${ask.accountId} was not counted`), null);
    else counted(null, verdictOf(ask, count, rank));
  });
}
