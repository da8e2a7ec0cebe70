import type { Clock } from "#shared/clock.ts";
import { LRUCache } from "lru-cache";
import { DatabaseAway } from "#control-plane/database/database-away.ts";
import { createPump } from "#control-plane/database/pump.ts";
import type { TargetAsk, TargetCount } from "#control-plane/limits/store.ts";
import { minuteEnd, secondsUntil, windowsAt } from "#control-plane/access/windows.ts";

/** Calls a minute at one target without an account behind them. */
const ANONYMOUS_PER_MINUTE = 10;

/** Whether one more call at a target may go on; if not, whole seconds to wait. */
export type TargetVerdict = { readonly ok: true } | { readonly ok: false; readonly retryAfterSeconds: number };

/** The budget of on-demand calls at each target, over all accounts and replicas. */
export interface TargetBudget {
  /** Counts one call at a target (limits/target-key.ts). Rejects when the database is away: then it must not go on. */
  take(target: string, anonymous: boolean): Promise<TargetVerdict>;
}

/** What the budget stands on. */
interface TargetBudgetDeps {
  readonly clock: Clock;
  /** Calls a minute; those without an account have ANONYMOUS_PER_MINUTE of them at most. */
  readonly limit: number;
  /** The one statement of limits/store.ts on a guarded connection; rejects when the database is away. */
  readonly count: (minute: number, limits: TargetLimits, asks: readonly TargetAsk[]) => Promise<readonly TargetCount[]>;
  readonly onRefused?: (caller: Caller) => void;
}

/** Calls a minute at one target, in all and of those without an account. */
interface TargetLimits {
  readonly all: number;
  readonly anonymous: number;
}

type Caller = "named" | "anonymous";
type Waiters = Record<Caller, PromiseWithResolvers<TargetVerdict>[]>;

// Targets in one statement, calls waiting at once, spent targets remembered: as in limits/limiter.ts, for the same reasons.
const MOST_TARGETS = 1_000;
const MOST_WAITING = 50_000;
const MOST_SPENT = 10_000;

/** Counts in batches: whatever waits when the last statement returns travels in the next one. */
export function createTargetBudget({ clock, limit, count, onRefused }: TargetBudgetDeps): TargetBudget {
  const limits: TargetLimits = { all: limit, anonymous: Math.min(limit, ANONYMOUS_PER_MINUTE) };
  const groups = new Map<string, Waiters>();
  /** Minutes in which a target has nothing left for a kind of caller: no statement can change that. */
  const spent = new LRUCache<string, number>({ max: MOST_SPENT });
  let waiting = 0;

  function refusal(caller: Caller, minute: number): TargetVerdict {
    onRefused?.(caller);
    return { ok: false, retryAfterSeconds: secondsUntil(minuteEnd(minute), clock.now().getTime()) };
  }

  function takeBatch(): [string, Waiters][] {
    const batch: [string, Waiters][] = [];
    for (const [target, waiters] of groups) {
      if (batch.length === MOST_TARGETS) break;
      groups.delete(target);
      waiting -= waiters.named.length + waiters.anonymous.length;
      batch.push([target, waiters]);
    }
    return batch;
  }

  async function flush(): Promise<void> {
    const batch = takeBatch();
    if (batch.length === 0) return;
    if (waiting > 0) pump.wake();
    const asks = batch.map(([target, { named, anonymous }]): TargetAsk => {
      return { target, named: named.length, anonymous: anonymous.length };
    });
    try {
      const rows = await count(windowsAt(clock.now().getTime()).minute, limits, asks);
      const counts = new Map(rows.map((row) => [row.target, row]));
      for (const [target, waiters] of batch) settle(target, waiters, counts.get(target));
    } catch (error) {
      // Those that came meanwhile would wait as long again for the same answer.
      const late = Array.from(groups);
      groups.clear();
      waiting = 0;
      for (const [, { named, anonymous }] of [...batch, ...late]) {
        for (const waiter of [...named, ...anonymous]) waiter.reject(error);
      }
    }
  }

  function settle(target: string, waiters: Waiters, row: TargetCount | undefined): void {
    for (const caller of ["named", "anonymous"] as const) {
      const granted = row?.[`${caller}Granted`] ?? 0;
      for (const [rank, waiter] of waiters[caller].entries()) {
        if (row === undefined) waiter.reject(new Error(`the target ${target} was not counted`));
        else if (rank < granted) waiter.resolve({ ok: true });
        else {
          spent.set(`${caller} ${target}`, row.minute);
          waiter.resolve(refusal(caller, row.minute));
        }
      }
    }
  }

  const pump = createPump(flush);

  return {
    take(target, isAnonymous) {
      const caller = isAnonymous ? "anonymous" : "named";
      const { minute } = windowsAt(clock.now().getTime());
      if (spent.get(`${caller} ${target}`) === minute) return Promise.resolve(refusal(caller, minute));
      if (waiting >= MOST_WAITING) return Promise.reject(new DatabaseAway("too many calls wait to be counted"));
      waiting += 1;
      const waiter = Promise.withResolvers<TargetVerdict>();
      const group = groups.get(target) ?? { named: [], anonymous: [] };
      group[caller].push(waiter);
      groups.set(target, group);
      pump.wake();
      return waiter.promise;
    },
  };
}
