import { createLeastRecent } from "#control-plane/core/least-recent.ts";
import type { App } from "#control-plane/core/app.ts";
import { DatabaseAway } from "#control-plane/core/database/database-away.ts";
import { createPump } from "#control-plane/core/database/pump.ts";
import type { CallsToCount, TargetCount } from "#control-plane/http/limits/store.ts";
import { minuteEnd, secondsUntil, windowsAt } from "#control-plane/http/access/windows.ts";

/** Maximum number of calls per minute at one target by callers without an account. */
const ANONYMOUS_PER_MINUTE = 10;

/** Whether one more call at a target is admitted; if not, whole seconds to wait. */
export type BudgetDecision = { readonly ok: true } | { readonly ok: false; readonly retryAfterSeconds: number };

/** Budget of on-demand calls at each target, over all accounts and replicas. */
export interface TargetBudget {
  /** Counts one call at a target (limits/target-key.ts). Rejects if the database is away; the call must then stop. */
  take(target: string, anonymous: boolean): Promise<BudgetDecision>;
}

/** Maximum number of calls per minute at one target: in total, and by callers without an account. */
interface TargetLimits {
  readonly all: number;
  readonly anonymous: number;
}

type Caller = "named" | "anonymous";
type Waiters = Record<Caller, PromiseWithResolvers<BudgetDecision>[]>;

/** Maximum number of targets in one statement; the others wait for the next. */
const MOST_TARGETS = 1_000;
/** Maximum number of waiting calls, for the same reason as in limits/account.ts. */
const MOST_WAITING = 50_000;
/** Maximum number of targets with a used-up budget in memory. */
const MOST_SPENT = 10_000;

/**
 * Creates a budget that counts in batches: calls that wait when a statement returns are counted by the next one.
 * `limit` is the maximum number of calls per minute; at most ANONYMOUS_PER_MINUTE of them without an account. `count`
 * runs the statement `countTargets` of limits/store.ts on a guarded connection and rejects while the database is away.
 */
export function createTargetBudget({
  clock,
  limit,
  count,
  onRefused,
}: Pick<App, "clock"> & {
  readonly limit: number;
  readonly count: (
    minute: number,
    limits: TargetLimits,
    asks: readonly CallsToCount[],
  ) => Promise<readonly TargetCount[]>;
  readonly onRefused?: (caller: Caller) => void;
}): TargetBudget {
  const limits: TargetLimits = { all: limit, anonymous: Math.min(limit, ANONYMOUS_PER_MINUTE) };
  const groups = new Map<string, Waiters>();
  /** The minute in which a target's budget for a kind of caller is used up: no statement can change that. */
  const spent = createLeastRecent<string, number>(MOST_SPENT);
  let waiting = 0;

  function refusal(caller: Caller, minute: number): BudgetDecision {
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
    const asks = batch.map(([target, { named, anonymous }]): CallsToCount => {
      return { target, named: named.length, anonymous: anonymous.length };
    });
    try {
      const rows = await count(windowsAt(clock.now().getTime()).minute, limits, asks);
      const counts = new Map(rows.map((row) => [row.target, row]));
      for (const [target, waiters] of batch) settle(target, waiters, counts.get(target));
    } catch (error) {
      // Calls that arrived meanwhile would wait just as long for the same error.
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
      const waiter = Promise.withResolvers<BudgetDecision>();
      const group = groups.get(target) ?? { named: [], anonymous: [] };
      group[caller].push(waiter);
      groups.set(target, group);
      pump.wake();
      return waiter.promise;
    },
  };
}
