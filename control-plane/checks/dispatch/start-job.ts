import { DEADLINE_GRACE_MS } from "#shared/protocol/wire.ts";
import { assignJob } from "#control-plane/checks/dispatch/assign-job.ts";
import { cancelJob, expireJob, finishJob } from "#control-plane/checks/dispatch/end-job.ts";
import type { JobAnswer, JobRequest } from "#control-plane/checks/dispatch/job.ts";
import type { RunningJob } from "#control-plane/checks/dispatch/session.ts";
import type { HubState } from "#control-plane/checks/dispatch/state.ts";

/** Starts a job; `settle` gets its one answer by the deadline + DEADLINE_GRACE_MS. */
export function startJob(hub: HubState, request: JobRequest, settle: (answer: JobAnswer) => void): void {
  const startedAt = hub.clock.monotonic();
  hub.jobsStarted += 1;
  const job: RunningJob = {
    id: `${hub.replicaId}-${hub.jobsStarted}`,
    request,
    accountId: request.accountId,
    startedAt,
    deadlineAt: startedAt + (request.waitMs ?? request.deadlineMs),
    excluded: new Set(),
    busy: new Set(),
    givenTo: new Set(),
    accepted: 0,
    progress: { events: 0, characters: 0 },
    attempt: 1,
    losses: [],
    session: null,
    timer: null,
    settle,
    onAbort: () => cancelJob(hub, job),
  };
  hub.jobs.set(job.id, job);
  if (request.signal?.aborted === true) return finishJob(hub, job, { kind: "cancelled" });
  request.signal?.addEventListener("abort", job.onAbort, { once: true });
  startTimer(hub, job);
  assignJob(hub, job);
}

/** Ends the job at its deadline, which moves when a job that could wait is sent. */
function startTimer(hub: HubState, job: RunningJob): void {
  const leftMs = job.deadlineAt - hub.clock.monotonic() + DEADLINE_GRACE_MS;
  if (leftMs <= 0) expireJob(hub, job);
  else job.timer = setTimeout(() => startTimer(hub, job), leftMs);
}
