import { transact } from "#control-plane/database/transaction.ts";
import type { Sql } from "#control-plane/database/connect.ts";
import { refuseGone, refuseProblem, refuseWrite, type Refused, type Written } from "#control-plane/http/written.ts";
import type { Warning } from "#control-plane/http/warnings.ts";
import type { MonitorDraft } from "#control-plane/kinds/monitor.ts";
import { createAddressLimiter } from "#control-plane/limits/address.ts";
import { lockAccount } from "#control-plane/monitors/account/store.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import { runDraft, type RunCheck, type Tried } from "#control-plane/monitors/try/run.ts";
import { createPace } from "#control-plane/pace.ts";
import { warnOfPlainHttp } from "#control-plane/monitors/plain-http.ts";
import { refuseOverAllowance, vetNewMonitor } from "#control-plane/monitors/write/create.ts";
import type { WriteDeps } from "#control-plane/monitors/write/deps.ts";

/** A try of a monitor, with what the user should know of it beside. */
interface Trial {
  readonly tried: Tried;
  readonly warnings: readonly Warning[];
}

/** Who tries a monitor. */
interface Trier {
  readonly accountId: number;
  /** Aborted: nobody waits any more. */
  readonly signal?: AbortSignal;
}

/** Runs monitors once that are not created, and records nothing. */
export interface Trials {
  /** Tries a monitor, refused as its creation would be; six times a minute and account. */
  tryMonitor(trier: Trier, given: Given): Promise<Written<Trial>>;
  /** Tries up to 50 monitors, each refused for itself. Together they count as one try. */
  tryMonitors(trier: Trier, givens: readonly Given[]): Promise<Written<readonly Written<Trial>[]>>;
}

/** Dependencies of the tries. */
interface TrialsDeps extends Pick<WriteDeps, "checks" | "clock" | "plans"> {
  readonly sql: Sql;
  readonly run: RunCheck;
  /** Longest time of a try, in milliseconds: what has not ended then is unknown. Default: 90 s. */
  readonly longestMs?: number;
}

/** Maximum number of tries of an account in a minute, at each replica. */
const MOST_A_MINUTE = 6;
/** Maximum number of monitors in one try, and of those that run at the same time. */
const MOST_AT_ONCE = 50;
const PARALLEL = 4;
/** Proxies commonly wait 100 s for an answer. */
const LONGEST_MS = 90_000;

/** A draft that can be run, or why not. */
type Vetted = Written<{ readonly draft: MonitorDraft; readonly full: Refused | null }>;

/** Creates the tries of one replica. Their counts are in memory, so that a try writes nothing at all. */
export function createTrials(deps: TrialsDeps): Trials {
  const { sql, clock, plans, longestMs = LONGEST_MS } = deps;
  const limiter = createAddressLimiter({ clock, limit: MOST_A_MINUTE, windowSeconds: 60 });

  /** Checks monitors as their creations would, in one short transaction; null: the account was deleted. */
  function vetAll(accountId: number, givens: readonly Given[]): Promise<readonly Vetted[] | null> {
    return transact(sql, async (tx) => {
      const account = await lockAccount(tx, accountId);
      if (account === null) return null;
      const all: Vetted[] = [];
      const pace = createPace(clock);
      for (const given of givens) {
        // oxlint-disable-next-line no-await-in-loop -- one connection
        const vetted = await vetNewMonitor(deps, tx, account, given, null);
        const added = all.filter(({ ok }) => ok).length + 1;
        const full = refuseOverAllowance(account, plans[account.plan], added);
        all.push(vetted.ok ? { ok: true, value: { draft: vetted.value, full } } : vetted);
        // oxlint-disable-next-line no-await-in-loop -- gives the loop back
        if (pace.isDue()) await pace.rest();
      }
      return all;
    });
  }

  async function tryMonitors(
    { accountId, signal }: Trier,
    givens: readonly Given[],
  ): ReturnType<Trials["tryMonitors"]> {
    if (givens.length > MOST_AT_ONCE) {
      return refuseProblem({ field: "monitors", reason: "range", message: `must have at most ${MOST_AT_ONCE} items` });
    }
    const vetted = await vetAll(accountId, givens);
    if (vetted === null) return refuseGone();
    if (!vetted.some(({ ok }) => ok)) return { ok: true, value: vetted.filter((one) => !one.ok) };
    const { ok, retryAfterSeconds } = limiter.take(String(accountId));
    if (!ok) return refuseTooMany(retryAfterSeconds);
    const late = AbortSignal.timeout(longestMs);
    const ends = signal === undefined ? late : AbortSignal.any([late, signal]);
    const value = await inParallel(vetted, async (one): Promise<Written<Trial>> => {
      if (!one.ok) return one;
      const { draft, full } = one.value;
      const tried = await runDraft(deps, accountId, draft, ends);
      return { ok: true, value: { tried, warnings: [...warnOfFull(full), ...warnOfPlainHttp(draft)] } };
    });
    return { ok: true, value };
  }

  return {
    tryMonitors,
    async tryMonitor(trier, given) {
      const tried = await tryMonitors(trier, [given]);
      if (!tried.ok) return tried;
      const [only] = tried.value;
      if (only === undefined) throw new Error("a try of one monitor has no result");
      return only;
    },
  };
}

function refuseTooMany(retryAfterSeconds: number): Refused {
  const message =
    `This account has tried monitors ${MOST_A_MINUTE} times in this minute, which is the limit. ` +
    `Wait ${retryAfterSeconds} s.`;
  return refuseWrite({ code: "rate_limit_exceeded", message, retryAfterSeconds });
}

/** Warns that the monitor cannot be created although it can be tried. */
function warnOfFull(full: Refused | null): readonly Warning[] {
  if (full === null) return [];
  const message = `The monitor cannot be created now. ${full.refusal.message}`;
  return [{ parameter: "monitors", message, did_you_mean: null }];
}

/** Does work for all items, PARALLEL of them at the same time, and returns the results in their order. */
async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  const left = items.entries();
  const workers = Array.from({ length: PARALLEL }, async () => {
    // oxlint-disable-next-line no-await-in-loop -- the next item begins when one has ended
    for (const [index, item] of left) results[index] = await work(item);
  });
  await Promise.all(workers);
  return results;
}
