import type { Clock } from "#shared/clock.ts";
import type { AgentMessage } from "#shared/protocol/probe.ts";
import { MAX_PROGRESS_BYTES } from "#shared/wire.ts";
import type { JobAnswer } from "#control-plane/dispatch/job.ts";
import type { DispatchMetrics } from "#control-plane/dispatch/metrics.ts";
import { readOutcome } from "#control-plane/dispatch/outcome-json.ts";
import type { RunningJob, Session } from "#control-plane/dispatch/session.ts";

/** What an agent's message can make the hub do. */
export interface HubActions {
  readonly metrics: DispatchMetrics;
  readonly clock: Clock;
  assign(job: RunningJob): void;
  finish(job: RunningJob, answer: JobAnswer): void;
  startWaiting(session: Session): void;
}

/** Acts on one message; it counts only for jobs this session holds, in their current attempt. */
export function receive(hub: HubActions, session: Session, message: AgentMessage): void {
  const { body } = message;
  switch (body?.$case) {
    case "beat":
      session.credits = Math.min(Math.max(1, body.value.credits), session.agent.credits);
      session.loopLagMs = body.value.loopLagMs;
      session.link.send({
        body: {
          $case: "beat",
          value: { running: session.running.size, credits: 0, loopLagMs: 0, waiting: session.waiting.size },
        },
      });
      hub.startWaiting(session);
      return;
    case "draining":
      session.draining = true;
      return;
    case "accepted": {
      const job = held(hub, session, body.value);
      job?.request.onAccepted?.(session.agent.id, job.attempt);
      return;
    }
    case "declined": {
      const job = held(hub, session, body.value);
      if (job === null) return;
      hub.metrics.redispatched.inc({ reason: "declined" });
      session.running.delete(job.id);
      job.session = null;
      job.excluded.add(session.agent.id);
      hub.assign(job);
      hub.startWaiting(session);
      return;
    }
    case "progress": {
      const job = held(hub, session, body.value);
      const data = job === null ? undefined : readProgress(body.value.data);
      if (data === undefined) hub.metrics.dropped.inc({ reason: "progress" });
      else job?.request.onProgress?.(session.agent.id, job.attempt, { kind: body.value.kind.slice(0, 32), data });
      return;
    }
    case "result": {
      const job = held(hub, session, body.value);
      if (job === null) return;
      hub.finish(job, {
        kind: "outcome",
        outcome: readOutcome(body.value.outcome),
        agentId: session.agent.id,
        attempt: job.attempt,
        durationMs: body.value.durationMs,
      });
      return;
    }
    case "hello": // said once, at the start
    case undefined:
      hub.metrics.dropped.inc({ reason: "unexpected" });
  }
}

function held(hub: HubActions, session: Session, named: { jobId: string; attempt: number }): RunningJob | null {
  const job = session.running.get(named.jobId);
  if (job?.attempt === named.attempt) return job;
  hub.metrics.dropped.inc({ reason: "stale" });
  return null;
}

/** undefined: too large or no JSON. */
function readProgress(text: string): unknown {
  if (text.length > MAX_PROGRESS_BYTES) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
