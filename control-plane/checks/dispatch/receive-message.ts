import type { AgentMessage, Artifact, Progress, Result } from "#shared/protocol/probe.ts";
import { MAX_PROGRESS_BYTES, MOST_PROGRESS } from "#shared/protocol/wire.ts";
import { handleDeclined } from "#control-plane/checks/dispatch/assign-job.ts";
import { sendBeat, startWaiting } from "#control-plane/checks/dispatch/credits.ts";
import { failArtifact, finishJob } from "#control-plane/checks/dispatch/end-job.ts";
import type { Rejection } from "#control-plane/checks/dispatch/hello.ts";
import { detachSession, moveWaiting } from "#control-plane/checks/dispatch/lost-agents.ts";
import { readOutcome } from "#control-plane/checks/dispatch/outcome-json.ts";
import { parseShallowJson } from "#control-plane/checks/dispatch/shallow-json.ts";
import type { RunningJob, Session } from "#control-plane/checks/dispatch/session.ts";
import type { HubState } from "#control-plane/checks/dispatch/state.ts";

/** Minimum interval between two log lines about invalid messages of an agent, milliseconds. */
const WARN_EVERY_MS = 60_000;

/**
 * Limit of ignored messages in this time, after which an agent is disconnected. A delayed agent sends a few for
 * each job that has already ended.
 */
const MOST_DROPPED = 5_000;
const DROPPED_WITHIN_MS = 10_000;

const FLOOD: Rejection = {
  reason: "flood",
  message: `more than ${MOST_DROPPED} messages within ${DROPPED_WITHIN_MS / 1_000} s were not for a job of this agent, or exceeded its limit`,
  retry: true,
};

/** Handles one message. Messages for jobs are accepted only from the session of the current attempt. */
export function receiveMessage(hub: HubState, session: Session, message: AgentMessage): void {
  const { body } = message;
  switch (body?.$case) {
    case "beat": {
      const { credits, running, loopLagMs } = body.value;
      session.credits = Math.min(credits, session.agent.maxJobs);
      session.heldBack = false;
      session.elsewhere = Math.min(Math.max(0, running - session.running.size), session.agent.maxJobs);
      session.loopLagMs = loopLagMs >= 0 && loopLagMs < Infinity ? loopLagMs : 0;
      startWaiting(hub, session);
      sendBeat(session);
      return;
    }
    case "draining":
      if (session.draining) return;
      session.draining = true;
      hub.roster.changed(session);
      moveWaiting(hub, session);
      return;
    case "accepted": {
      const job = findJob(hub, session, body.value);
      if (job === null) return;
      if (job.accepted === job.attempt) return dropMessage(hub, session, "unexpected");
      job.accepted = job.attempt;
      job.request.onAccepted?.(session.agent.id, job.attempt);
      return;
    }
    case "declined": {
      const job = findJob(hub, session, body.value);
      if (job !== null) handleDeclined(hub, job, session, body.value.reason);
      return;
    }
    case "progress": {
      const job = findJob(hub, session, body.value);
      if (job !== null) receiveProgress(hub, session, job, body.value);
      return;
    }
    case "result": {
      const job = findJob(hub, session, body.value);
      if (job !== null) receiveResult(hub, session, job, body.value);
      return;
    }
    case "artifact": {
      const job = findJob(hub, session, body.value);
      if (job !== null) receiveArtifact(hub, session, job, body.value);
      return;
    }
    case "hello": // sent once, at the start
    case undefined:
      dropMessage(hub, session, "unexpected");
      warn(hub, session, {}, "agent sent an unexpected message");
  }
}

/**
 * Returns the job of a message; null if the message is dropped. Reasons: `unknown`, the job has ended or never existed;
 * `stale`, the agent had an earlier attempt; `foreign`, the agent never had the job: a forgery.
 */
function findJob(hub: HubState, session: Session, named: { jobId: string; attempt: number }): RunningJob | null {
  const job = session.running.get(named.jobId);
  if (job?.attempt === named.attempt) return job;
  const other = hub.jobs.get(named.jobId);
  const agentId = session.agent.id;
  const reason = other === undefined ? "unknown" : other.givenTo.has(agentId) ? "stale" : "foreign";
  dropMessage(hub, session, reason);
  if (reason === "foreign") warn(hub, session, { job: named.jobId }, "agent sent a message for a job of another agent");
  return null;
}

function receiveResult(hub: HubState, session: Session, job: RunningJob, result: Result): void {
  const { durationMs } = result;
  const agentId = session.agent.id;
  const artifact = hub.artifacts.take(agentId, job);
  if (artifact !== null && "reason" in artifact) return failArtifact(hub, job, agentId, artifact);
  hub.metrics.overhead.observe(Math.max(0, hub.clock.monotonic() - job.startedAt - durationMs) / 1000);
  finishJob(hub, job, {
    kind: "outcome",
    outcome: readOutcome(result.outcome),
    ...(artifact === null ? {} : { artifact }),
    agentId,
    attempt: job.attempt,
    durationMs,
  });
}

/** Adds a chunk to the file of a job. A file that breaks the rules ends its job. */
function receiveArtifact(hub: HubState, session: Session, job: RunningJob, chunk: Artifact): void {
  if (job.request.wantsArtifact !== true) return dropMessage(hub, session, "unexpected");
  const fault = hub.artifacts.receive(session.agent.id, chunk);
  if (fault === null) return;
  dropMessage(hub, session, "artifact");
  warn(hub, session, { job: job.id, reason: fault.reason }, "a file of an agent was rejected");
  failArtifact(hub, job, session.agent.id, fault);
}

/** Forwards progress, up to the limit of one job. */
function receiveProgress(hub: HubState, session: Session, job: RunningJob, { kind, data: text }: Progress): void {
  const { progress } = job;
  if (progress.events >= MOST_PROGRESS.events || progress.characters + text.length > MOST_PROGRESS.characters) {
    job.request.onProgressDropped?.();
    return dropMessage(hub, session, "excess");
  }
  const data = text.length > MAX_PROGRESS_BYTES ? undefined : parseShallowJson(text);
  if (data === undefined) {
    job.request.onProgressDropped?.();
    return dropMessage(hub, session, "progress");
  }
  progress.events += 1;
  progress.characters += text.length;
  job.request.onProgress?.(session.agent.id, job.attempt, { kind: kind.slice(0, 32), data });
}

/** Counts an ignored message; an agent that sends too many of them is disconnected. */
function dropMessage(hub: HubState, session: Session, reason: string): void {
  hub.metrics.dropped.inc({ reason });
  const { dropped } = session;
  const now = hub.clock.monotonic();
  if (now - dropped.since > DROPPED_WITHIN_MS) Object.assign(dropped, { since: now, messages: 0 });
  dropped.messages += 1;
  if (dropped.messages <= MOST_DROPPED || !detachSession(hub, session, "flood")) return;
  hub.metrics.rejected.inc({ reason: FLOOD.reason });
  session.link.close({ body: { $case: "rejected", value: FLOOD } });
}

function warn(hub: HubState, session: Session, fields: object, line: string): void {
  const now = hub.clock.monotonic();
  if (now - (session.warnedAt.get(line) ?? -Infinity) < WARN_EVERY_MS) return;
  session.warnedAt.set(line, now);
  hub.log.warn({ agent: session.agent.id, ...fields }, line);
}
