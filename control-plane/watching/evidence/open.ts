import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { App } from "#control-plane/core/app.ts";
import { openBaselines, type Baselines } from "#control-plane/watching/evidence/baselines/baselines.ts";
import { readIncidentEvidence } from "#control-plane/watching/evidence/requests.ts";
import { exportIncidents } from "#control-plane/outages/incidents/incidents.ts";
import type { Teardown } from "#control-plane/core/teardown.ts";
import { Counter, type Registry } from "prom-client";
import type { Notifications } from "#control-plane/core/database/notifications.ts";
import { deleteInSteps, startUpkeep } from "#control-plane/core/database/upkeep.ts";
import { claimRound, storeFailed, storeGathered } from "#control-plane/watching/evidence/claims/claims.ts";
import { hasDue, releaseRow, type Task } from "#control-plane/watching/evidence/claims/store.ts";
import { EVIDENCE_CHANNEL } from "#control-plane/watching/evidence/evidence.ts";
import { writeEvidence } from "#control-plane/watching/evidence/fit.ts";
import { gatherEvidence } from "#control-plane/watching/evidence/gather.ts";
import { deleteOld } from "#control-plane/watching/evidence/store.ts";
import { startClaimedWork } from "#control-plane/checks/jobs/claimed-work.ts";

/**
 * Starts to gather the evidence about outages, which is part of the data export of an account, with its incidents. Returns
 * the last good checks, with which it is compared. Gatherings have `graceMs` to end when the replica stops.
 */
export function openEvidence(
  deps: Parameters<typeof startEvidenceWorker>[0] & { readonly accounts: Accounts; readonly graceMs: () => number },
  teardown: Teardown,
): Baselines {
  const worker = startEvidenceWorker(deps);
  teardown.push(() => worker.stop(deps.graceMs()));
  const baselines = openBaselines(deps);
  teardown.push(() => baselines.stop());
  deps.accounts.addExporter("incidents", (tx, accountId) =>
    exportIncidents(tx, accountId, { now: deps.clock.now(), evidenceOf: readIncidentEvidence }),
  );
  return baselines;
}

/** Gathers evidence in one replica. */
interface EvidenceWorker {
  /** Claims nothing more, and waits up to `graceMs` for what runs. The rest is repeated by another replica. */
  stop(graceMs: number): Promise<void>;
}

/** Maximum number of gatherings at the same time in one replica. */
const MOST_AT_ONCE = 8;
/** Interval at which due rows are looked for: lost notifications, and gatherings that another replica lost. */
const SWEEP_MS = 1_000;
const UPKEEP_MS = 3_600_000;
const DELETED_AT_ONCE = 1_000;
/**
 * Time for one gathering, milliseconds: a mail waits 10 s for it. One that begins late, because its first replica
 * stopped, has the same time.
 */
const BUDGET_MS = 9_000;
/** Pause before a gathering is repeated that failed for a reason of ours, milliseconds. */
const REPEAT_MS = 2_000;
const MOST_ATTEMPTS = 2;

/** Starts to gather. Evidence is kept for `retentionMs`. */
export function startEvidenceWorker(
  deps: Pick<App, "clock" | "log" | "timers"> &
    Parameters<typeof gatherEvidence>[0] & {
      readonly registry: Registry;
      readonly notifications: Notifications;
      readonly retentionMs: number;
    },
): EvidenceWorker {
  const { sql, clock, log, timers } = deps;
  const results = new Counter({
    name: "vantage_evidence_gatherings_total",
    help: "Gatherings of evidence about outages at this replica, by result: gathered, lost (another replica repeats it), failed",
    labelNames: ["result"],
    registers: [deps.registry],
  });

  async function claim(room: number): Promise<{ pieces: readonly Task[]; isMore: boolean }> {
    if (!(await hasDue(sql, clock.now()))) return { pieces: [], isMore: false };
    const { tasks, isMore } = await claimRound(sql, room, clock.now());
    return { pieces: tasks, isMore };
  }

  async function gather(task: Task, stopping: AbortSignal): Promise<void> {
    const { incidentId, attempt } = task;
    try {
      const signal = AbortSignal.any([stopping, AbortSignal.timeout(BUDGET_MS)]);
      const evidence = await gatherEvidence(deps, task, { budgetMs: BUDGET_MS, signal });
      if (stopping.aborted) return await releaseRow(sql, incidentId, attempt, clock.now());
      const body = writeEvidence(evidence);
      const gatheredAt = new Date(evidence.gathered_at);
      const isStored = await storeGathered(sql, { incidentId, attempt, gatheredAt, lines: evidence.summary, body });
      results.inc({ result: isStored ? "gathered" : "lost" });
    } catch (error) {
      results.inc({ result: "failed" });
      log.error({ err: error, incident: incidentId }, "evidence: a gathering failed");
      const again = new Date(clock.now().getTime() + REPEAT_MS);
      const end = attempt < MOST_ATTEMPTS ? releaseRow(sql, incidentId, attempt, again) : giveUp(task);
      // If the database is away, the end of the lease does the same.
      await end.catch(() => {});
    }
  }

  const giveUp = (task: Task): Promise<void> => storeFailed(sql, task, "internal_error", clock.now());
  const gatherings = startClaimedWork({
    name: "evidence: a round",
    log,
    timers,
    most: MOST_AT_ONCE,
    lookMs: SWEEP_MS,
    claim,
    work: gather,
    onError: (error, { incidentId }) => log.error({ err: error, incident: incidentId }, "evidence: a gathering failed"),
  });
  const wake = (): void => gatherings.wake();
  deps.notifications.listen(EVIDENCE_CHANNEL, wake, wake);
  const upkeep = startUpkeep({
    everyMs: UPKEEP_MS,
    round: () =>
      deleteInSteps(DELETED_AT_ONCE, (limit) =>
        deleteOld(sql, new Date(clock.now().getTime() - deps.retentionMs), limit),
      ),
    name: "evidence: housekeeping",
    log,
    timers,
  });

  return {
    async stop(graceMs) {
      upkeep.stop();
      await gatherings.stop(graceMs);
    },
  };
}
