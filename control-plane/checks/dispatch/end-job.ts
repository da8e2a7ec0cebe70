import { failed } from "#shared/contracts/outcome.ts";
import { startWaiting } from "#control-plane/checks/dispatch/credits.ts";
import type { JobAnswer } from "#control-plane/checks/dispatch/job.ts";
import type { RunningJob } from "#control-plane/checks/dispatch/session.ts";
import type { HubState } from "#control-plane/checks/dispatch/state.ts";

/** Answers a job once and removes it; later messages for it are ignored. */
export function finishJob(hub: HubState, job: RunningJob, answer: JobAnswer): void {
  if (!hub.jobs.delete(job.id)) return;
  hub.artifacts.drop(job.id);
  if (job.timer !== null) clearTimeout(job.timer);
  job.request.signal?.removeEventListener("abort", job.onAbort);
  detach(hub, job);
  const { tool } = job.request;
  const elapsedMs = hub.clock.monotonic() - job.startedAt;
  hub.metrics.jobs.inc({ tool, result: answer.kind === "outcome" ? answer.outcome.status : answer.kind });
  hub.metrics.duration.observe({ tool }, elapsedMs / 1000);
  job.settle(answer);
}

/** Cancels a job whose caller has disconnected. */
export function cancelJob(hub: HubState, job: RunningJob): void {
  sendCancel(job);
  finishJob(hub, job, { kind: "cancelled" });
}

/** Ends a job at its deadline: no agent had a free credit, or the agent did not answer. */
export function expireJob(hub: HubState, job: RunningJob): void {
  const { session } = job;
  if (session === null || !session.running.has(job.id)) {
    return finishJob(hub, job, { kind: "unavailable", reason: "busy" });
  }
  sendCancel(job);
  finishJob(hub, job, {
    kind: "outcome",
    outcome: failed("response", "probe", "timeout", "the probe did not answer before the deadline"),
    agentId: session.agent.id,
    attempt: job.attempt,
    durationMs: Math.round(hub.clock.monotonic() - job.startedAt),
  });
}

/**
 * Ends a job after two agents failed while they ran it; the last one is `agentId`. It ends as a failed check (502) and not as
 * probe_unavailable (503): a 503 asks to be repeated, and each repetition would put two more agents at risk.
 */
export function failSuspectJob(hub: HubState, job: RunningJob, agentId: string): void {
  hub.log.warn(
    { job: job.id, tool: job.request.tool, agent: agentId },
    "two agents were lost while they ran the same job; it is not dispatched again",
  );
  const message = "two probes disconnected while they ran this check; it is not run a third time";
  finishJob(hub, job, {
    kind: "outcome",
    outcome: failed("request", "probe", "probes_lost", message),
    agentId,
    attempt: job.attempt,
    durationMs: Math.round(hub.clock.monotonic() - job.startedAt),
  });
}

/** Ends a job whose agent sent a file that was rejected. The agent stops the job. */
export function failArtifact(
  hub: HubState,
  job: RunningJob,
  agentId: string,
  { reason, message }: { readonly reason: string; readonly message: string },
): void {
  sendCancel(job);
  finishJob(hub, job, {
    kind: "outcome",
    outcome: failed("response", "probe", reason, message),
    agentId,
    attempt: job.attempt,
    durationMs: Math.round(hub.clock.monotonic() - job.startedAt),
  });
}

function sendCancel(job: RunningJob): void {
  if (job.session?.running.has(job.id) !== true) return;
  job.session.link.send({ body: { $case: "cancel", value: { jobId: job.id, attempt: job.attempt } } });
}

/** Removes a job from its agent and gives its credit to the next waiting job. */
function detach(hub: HubState, job: RunningJob): void {
  const { session } = job;
  if (session === null) return;
  job.session = null;
  session.waiting.remove(job);
  if (session.running.delete(job.id)) startWaiting(hub, session);
}
