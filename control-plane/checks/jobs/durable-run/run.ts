import { unavailableError } from "#control-plane/checks/answer.ts";
import type { App } from "#control-plane/core/app.ts";
import { isDatabaseAway } from "#control-plane/core/database/database-away.ts";
import { isFinal } from "#control-plane/checks/jobs/durable-run/status.ts";
import type { RunState, RunWatch } from "#control-plane/checks/jobs/durable-run/watch.ts";
import type {
  Attempt,
  ClaimedRun,
  DurableWork,
  RunLease,
  Unanswered,
} from "#control-plane/checks/jobs/durable-run/work.ts";
import type { JobResult } from "#control-plane/checks/jobs/pull.ts";

/**
 * Maximum number of groups of one run at the same time: the default of curl --parallel. In addition, the hub takes
 * turns between accounts.
 */
const GROUPS_AT_ONCE = 50;

/**
 * Time in milliseconds for which a unit without a probe waits for another replica or for a probe that reconnects. After
 * a replica restarts, all its agents are connected again within 20 s.
 */
const GIVE_UP_MS = 30_000;

/**
 * Makes one attempt at a run, starting from the point where the last attempt stopped:
 *
 * 1. Claim the run. From now on the store refuses writes of earlier claims.
 * 2. Perform every unit without a result. A cancellation, an erasure or a newer claim, on any replica, aborts the
 * attempt.
 * 3. If units wait for a probe: postpone the run, or give these units up after they have waited for 30 s.
 * 4. If every unit has a result: finish the run.
 *
 * Returns "later", which puts the job back into the queue, if units still wait, this process stops or the database is
 * away.
 */
export async function runDurably<W extends ClaimedRun, U>(
  deps: Pick<App, "clock"> & { readonly watch: Pick<RunWatch<RunState>, "watch"> },
  work: DurableWork<W, U>,
  id: string,
  stop: AbortSignal,
): Promise<JobResult> {
  try {
    const claimed = await work.claim(id, deps.clock.now());
    return claimed === null ? "done" : await attemptRun(deps, work, claimed, stop);
  } catch (error) {
    if (isDatabaseAway(error)) return "later";
    throw error;
  }
}

async function attemptRun<W extends ClaimedRun, U>(
  { clock, watch }: Pick<App, "clock"> & { readonly watch: Pick<RunWatch<RunState>, "watch"> },
  work: DurableWork<W, U>,
  claimed: W,
  stop: AbortSignal,
): Promise<JobResult> {
  const lost = new AbortController();
  const unwatch = watch.watch(claimed.id, (state) => {
    if (hasLost(claimed, state)) lost.abort();
  });
  try {
    const givesUp = hasWaitedLongEnough(claimed, clock.now());
    const attempt = await work.begin(claimed, { signal: stop, onLost: () => lost.abort() });
    const unanswered = await performGroups(attempt, AbortSignal.any([stop, lost.signal]));
    const isGivingUp = givesUp && !stop.aborted && !lost.signal.aborted;
    if (isGivingUp) for (const one of unanswered) attempt.giveUp(one);
    const isStored = await attempt.settle();
    if (!isStored && stop.aborted) return "later";
    if (!isStored || lost.signal.aborted) return "done";
    if (unanswered.length > 0 && !isGivingUp) {
      if (!stop.aborted) await work.postpone(claimed, clock.now());
      return "later";
    }
    await work.finish(claimed, clock.now());
    return "done";
  } finally {
    unwatch();
    // If the attempt failed halfway, this aborts the checks that it still has running.
    lost.abort();
  }
}

/**
 * Reports whether this claim lost the run. A state read before the claim's commit shows a lower `run`: nothing is lost.
 */
function hasLost({ run }: RunLease, state: RunState | null): boolean {
  return state === null || isFinal(state.status) || state.run > run;
}

function hasWaitedLongEnough({ waitingSince }: ClaimedRun, now: Date): boolean {
  return waitingSince !== null && now.getTime() >= waitingSince.getTime() + GIVE_UP_MS;
}

/**
 * Performs the groups, GROUPS_AT_ONCE at a time. Groups that have not begun when the signal is aborted are unanswered.
 */
async function performGroups<U>(attempt: Attempt<U>, signal: AbortSignal): Promise<readonly Unanswered<U>[]> {
  const unanswered: Unanswered<U>[] = [];
  const queue = attempt.groups.values();
  const lane = async () => {
    for (const group of queue) {
      const left = signal.aborted
        ? group.map((unit) => ({ unit, error: unavailableError("busy") }))
        : await attempt.perform(group, signal);
      unanswered.push(...left);
    }
  };
  await Promise.all(Array.from({ length: Math.min(GROUPS_AT_ONCE, attempt.groups.length) }, lane));
  return unanswered;
}
