import { failed } from "#shared/outcome.ts";
import { startWaiting } from "#control-plane/dispatch/credits.ts";
import type { JobAnswer } from "#control-plane/dispatch/job.ts";
import type { RunningJob } from "#control-plane/dispatch/session.ts";
import type { HubState } from "#control-plane/dispatch/state.ts";

/** Answers a job, once; whatever comes for it later finds it gone. */
export function finish(hub: HubState, job: RunningJob, answer: JobAnswer): void {
  if (!hub.jobs.delete(job.id)) return;
  if (job.timer !== null) clearTimeout(job.timer);
  job.request.signal?.removeEventListener("abort", job.onAbort);
  detach(hub, job);
  const { tool } = job.request;
  const elapsedMs = hub.clock.monotonic() - job.startedAt;
  hub.metrics.jobs.inc({ tool, result: answer.kind === "outcome" ? answer.outcome.status : answer.kind });
  hub.metrics.duration.observe({ tool }, elapsedMs / 1000);
  job.settle(answer);
}

/** The caller is gone. */
export function cancel(hub: HubState, job: RunningJob): void {
  sendCancel(job);
  finish(hub, job, { kind: "cancelled" });
}

/** The deadline is past: nobody had a credit for it, or its agent says nothing. */
export function expire(hub: HubState, job: RunningJob): void {
  const { session } = job;
  if (session === null || !session.running.has(job.id)) {
    return finish(hub, job, { kind: "unavailable", reason: "busy" });
  }
  sendCancel(job);
  finish(hub, job, {
    kind: "outcome",
    outcome: failed("response", "probe", "timeout", "the probe did not answer before the deadline"),
    agentId: session.agent.id,
    attempt: job.attempt,
    durationMs: Math.round(hub.clock.monotonic() - job.startedAt),
  });
}

/**
 * Two agents failed while they ran the job, the last of them `agentId`. It ends as a failed check (502) and not as
 * probe_unavailable (503): a 503 asks to be repeated, and each repetition would put two more agents at risk.
 */
export function giveUpSuspect(hub: HubState, job: RunningJob, agentId: string): void {
  hub.log.warn(
    { job: job.id, tool: job.request.tool, agent: agentId },
    "two agents were lost while they ran the same job; it is not dispatched again",
  );
  const message = "two probes disconnected while they ran this check; it is not run a third time";
  finish(hub, job, {
    kind: "outcome",
    outcome: failed("request", "probe", "probes_lost", message),
    agentId,
    attempt: job.attempt,
    durationMs: Math.round(hub.clock.monotonic() - job.startedAt),
  });
}

function sendCancel(job: RunningJob): void {
  if (job.session?.running.has(job.id) !== true) return;
  job.session.link.send({ body: { $case: "cancel", value: { jobId: job.id, attempt: job.attempt } } });
}

/** Takes a job off its agent; the credit it held is the next one's. */
function detach(hub: HubState, job: RunningJob): void {
  const { session } = job;
  if (session === null) return;
  job.session = null;
  session.waiting.remove(job);
  if (session.running.delete(job.id)) startWaiting(hub, session);
}
