import type { App } from "#control-plane/core/app.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import type { Turns } from "#control-plane/core/database/turns.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import {
  refuseAbsent,
  refuseGone,
  refuseProblem,
  refuseWrite,
  type Refused,
  type Written,
} from "#control-plane/http/written.ts";
import { LONGEST_PARAMETER, type Warning } from "#control-plane/http/warnings.ts";
import type { MonitorDraft } from "#control-plane/outages/kinds/monitor.ts";
import { createAddressLimiter } from "#control-plane/http/limits/address.ts";
import { lockAccount, type MonitorAccount } from "#control-plane/monitors/account-store.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import { findMonitor } from "#control-plane/monitors/store.ts";
import { runDraft, type RunCheck, type Tried } from "#control-plane/monitors/try/run.ts";
import { createYielder } from "#control-plane/core/yielder.ts";
import { warnOfCreation } from "#control-plane/monitors/creation-warnings.ts";
import { vetReferences } from "#control-plane/monitors/write/change.ts";
import { refuseOverAllowance, vetNewMonitor } from "#control-plane/monitors/write/create.ts";
import { draftChange, isResumed, refuseResumption } from "#control-plane/monitors/write/draft-change.ts";
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

/** Runs monitors once, before they are created or changed, and records nothing. */
export interface Trials {
  /** Tries a monitor, refused as its creation would be; six times a minute and account. */
  tryMonitor(trier: Trier, given: Given): Promise<Written<Trial>>;
  /**
   * Tries a monitor of the account as a change would make it, and refused as that would be. It has its stored secrets,
   * but for those that the change would remove, of which it warns.
   */
  tryChange(trier: Trier, id: number, given: Given): Promise<Written<Trial>>;
  /** Tries up to 50 monitors, each refused for itself. Together they count as one try. */
  tryMonitors(trier: Trier, givens: readonly Given[]): Promise<Written<readonly Written<Trial>[]>>;
}

/** Maximum number of tries of an account in a minute, at each replica. */
const MOST_A_MINUTE = 6;
/** Maximum number of monitors in one try, and of those that run at the same time. */
const MOST_AT_ONCE = 50;
const PARALLEL = 4;
/** Proxies commonly wait 100 s for an answer. */
const LONGEST_MS = 90_000;

/** A draft that can be run with what the user should know of it, or why not. */
type Vetted = Written<{ readonly draft: MonitorDraft; readonly warnings: readonly Warning[] }>;

/** Checks one of the monitors that are tried; `added` is the number of new ones with it. */
type Vet = (tx: Transaction, account: MonitorAccount, added: number) => Promise<Vetted>;

/**
 * Creates the tries of one replica. Their counts are in memory, so that a try writes nothing at all. What has not ended
 * after `longestMs` is unknown.
 */
export function createTrials(
  deps: Pick<App, "sql"> &
    Pick<WriteDeps, "checks" | "clock" | "encryption" | "plans"> & {
      readonly turns: Turns;
      readonly run: RunCheck;
      readonly longestMs?: number;
    },
): Trials {
  const { sql, turns, clock, plans, longestMs = LONGEST_MS } = deps;
  const limiter = createAddressLimiter({ clock, limit: MOST_A_MINUTE, windowSeconds: 60 });

  const asNew =
    (given: Given): Vet =>
    async (tx, account, added) => {
      const vetted = await vetNewMonitor(deps, tx, account, given, null);
      if (!vetted.ok) return vetted;
      const full = refuseOverAllowance(account, plans[account.plan], added);
      return { ok: true, value: { draft: vetted.value, warnings: warnOfFull(full, "created") } };
    };

  const asChanged =
    (id: number, given: Given): Vet =>
    async (tx, account) => {
      const stored = await findMonitor(tx, account.id, id);
      if (stored === null) return refuseAbsent("monitor");
      const drafted = draftChange(deps, account, stored, given);
      if (!drafted.ok) return drafted;
      const references = await vetReferences(tx, { accountId: account.id, id }, drafted.value);
      if (!references.ok) return references;
      const plan = plans[account.plan];
      const isFull = isResumed(drafted.value) && account.active >= plan.monitors;
      const full = warnOfFull(isFull ? refuseResumption(plan) : null, "changed so");
      return {
        ok: true,
        value: { draft: drafted.value.draft, warnings: [...full, ...drafted.value.removed.map(warnOfRemoval)] },
      };
    };

  /** Checks monitors as writes would, in one short transaction; null: the account was deleted. */
  function vetAll({ accountId, signal }: Trier, vets: readonly Vet[]): Promise<readonly Vetted[] | null> {
    const vetting = async (tx: Transaction) => {
      const account = await lockAccount(tx, accountId);
      if (account === null) return null;
      const all: Vetted[] = [];
      const yielder = createYielder(clock);
      for (const vet of vets) {
        // oxlint-disable-next-line no-await-in-loop -- one connection
        all.push(await vet(tx, account, all.filter(({ ok }) => ok).length + 1));
        // oxlint-disable-next-line no-await-in-loop -- gives the loop back
        if (yielder.isDue()) await yielder.rest();
      }
      return all;
    };
    return turns.run(accountId, () => transact(sql, vetting), signal);
  }

  async function tryAll(trier: Trier, vets: readonly Vet[]): ReturnType<Trials["tryMonitors"]> {
    const { accountId, signal } = trier;
    const vetted = await vetAll(trier, vets);
    if (vetted === null) return refuseGone();
    if (!vetted.some(({ ok }) => ok)) return { ok: true, value: vetted.filter((one) => !one.ok) };
    const { ok, retryAfterSeconds } = limiter.take(String(accountId));
    if (!ok) return refuseTooMany(retryAfterSeconds);
    const late = AbortSignal.timeout(longestMs);
    const ends = signal === undefined ? late : AbortSignal.any([late, signal]);
    const value = await inParallel(vetted, async (one): Promise<Written<Trial>> => {
      if (!one.ok) return one;
      const { draft, warnings } = one.value;
      const tried = await runDraft(deps, accountId, draft, ends);
      return { ok: true, value: { tried, warnings: [...warnings, ...warnOfCreation(draft)] } };
    });
    return { ok: true, value };
  }

  async function tryOne(trier: Trier, vet: Vet): Promise<Written<Trial>> {
    const tried = await tryAll(trier, [vet]);
    if (!tried.ok) return tried;
    const [only] = tried.value;
    if (only === undefined) throw new Error("a try of one monitor has no result");
    return only;
  }

  return {
    async tryMonitors(trier, givens) {
      if (givens.length <= MOST_AT_ONCE) return tryAll(trier, givens.map(asNew));
      return refuseProblem({ field: "monitors", reason: "range", message: `must have at most ${MOST_AT_ONCE} items` });
    },
    tryMonitor: (trier, given) => tryOne(trier, asNew(given)),
    tryChange: (trier, id, given) => tryOne(trier, asChanged(id, given)),
  };
}

function refuseTooMany(retryAfterSeconds: number): Refused {
  const message =
    `This account has tried monitors ${MOST_A_MINUTE} times in this minute, which is the limit. ` +
    `Wait ${retryAfterSeconds} s.`;
  return refuseWrite({ code: "rate_limit_exceeded", message, retryAfterSeconds });
}

/** Warns that the monitor cannot be written although it can be tried. */
function warnOfFull(full: Refused | null, what: "created" | "changed so"): readonly Warning[] {
  if (full === null) return [];
  const message = `The monitor cannot be ${what} now. ${full.refusal.message}`;
  return [{ parameter: "monitors", message, did_you_mean: null }];
}

/** Warns of a stored secret that was not sent. */
function warnOfRemoval(field: string): Warning {
  const parameter = field.slice(0, LONGEST_PARAMETER);
  const message = `"${parameter}" was not sent, because the url leads to another origin: send it again with the url.`;
  return { parameter, message, did_you_mean: null };
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
