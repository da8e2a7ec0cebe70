import type { AgentMessage, Artifact, Progress, Result } from "#shared/protocol/probe.ts";
import { MAX_PROGRESS_BYTES, MOST_PROGRESS, MAX_RESULT_BYTES } from "#shared/protocol/wire.ts";
import { receiveLogLines } from "#control-plane/checks/dispatch/agent-log.ts";
import { handleDeclined } from "#control-plane/checks/dispatch/assign-job.ts";
import { sendBeat, startWaiting } from "#control-plane/checks/dispatch/credits.ts";
import { failArtifact, finishJob } from "#control-plane/checks/dispatch/end-job.ts";
import type { Rejection } from "#control-plane/checks/dispatch/hello.ts";
import { detachSession, moveWaiting } from "#control-plane/checks/dispatch/lost-agents.ts";
import type { RunningJob, Session } from "#control-plane/checks/dispatch/session.ts";
import type { HubState } from "#control-plane/checks/dispatch/state.ts";
import { isRecord } from "#shared/text/is-record.ts";
import { failed, ok, refused, SOURCES, type Outcome, type Source, type Stage } from "#shared/contracts/outcome.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";

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
    case "logLines":
      if (receiveLogLines(session, body.value)) return;
      dropMessage(hub, session, "log");
      return warn(hub, session, {}, "agent sent lines of its log that were not asked for, or too many");
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

const STAGES: ReadonlySet<string> = new Set<Stage>(["dns", "connect", "tls", "request", "response"]);
const SOURCE_WORDS: ReadonlySet<string> = new Set(SOURCES);
const WORD = /^[a-z0-9_]{1,64}$/;
/** Maximum length of a message, in characters. */
const MOST_MESSAGE = 1_000;

/** Parses an agent's outcome as untrusted data; one that is too large or invalid is a failure of the probe. */
export function readOutcome(text: string): Outcome<unknown> {
  if (text.length > MAX_RESULT_BYTES)
    return broken("result_too_large", "the result of the probe is larger than 256 KB");
  const value = parseShallowJson(text);
  if (value === undefined) return broken("invalid_result", "the result of the probe is not JSON, or nested too deeply");
  return copyOutcome(value) ?? broken("invalid_result", "the result of the probe is not a valid outcome");
}

function broken(reason: string, message: string): Outcome<unknown> {
  return failed("response", "probe", reason, message);
}

/** Returns a copy with clean texts of a valid outcome, without other fields; null if it is not valid. */
function copyOutcome(value: unknown): Outcome<unknown> | null {
  if (!isRecord(value)) return null;
  const { status, data, stage, source, reason, field, repeatable } = value;
  switch (status) {
    case "ok":
      return typeof data === "object" && data !== null ? ok(data) : null;
    case "failed": {
      const message = readMessage(value);
      if (!isStage(stage) || !isSource(source) || !isWord(reason) || message === null) return null;
      const failure = failed(stage, source, reason, message);
      return source === "probe" && repeatable === true ? { ...failure, repeatable } : failure;
    }
    case "refused":
      return refused;
    case "invalid": {
      const message = readMessage(value);
      return isWord(field) && message !== null ? { status, field, message } : null;
    }
    default:
      return null;
  }
}

function isStage(value: unknown): value is Stage {
  return typeof value === "string" && STAGES.has(value);
}

function isSource(value: unknown): value is Source {
  return typeof value === "string" && SOURCE_WORDS.has(value);
}

function isWord(value: unknown): value is string {
  return typeof value === "string" && WORD.test(value);
}

/**
 * Reads the text for people. It is stored, logged and mailed, and not every place accepts every character: PostgreSQL
 * refuses JSON with NUL or half a surrogate pair, and one such row fails the statement that reads it with others.
 */
function readMessage({ message }: Readonly<Record<string, unknown>>): string | null {
  return typeof message === "string" && message.length <= MOST_MESSAGE ? toPlainLine(message, MOST_MESSAGE) : null;
}

/** Maximum nesting, more than any result or progress has. JSON.stringify throws a RangeError at about 7,000 levels. */
const DEEPEST = 100;

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/**
 * Parses JSON of an agent; returns undefined for invalid JSON and for more than 100 levels. JSON.parse accepts any
 * depth, but JSON.stringify of the result would end the process.
 */
function parseShallowJson(text: string): unknown {
  if (!hasFewBrackets(text) && isDeep(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Reports whether so few brackets open that the text cannot be deep. A search is faster than a loop over characters. */
function hasFewBrackets(text: string): boolean {
  let opened = 0;
  for (const bracket of ["{", "["]) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      opened += 1;
      if (opened > DEEPEST) return false;
    }
  }
  return true;
}

function isDeep(text: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (isInString) {
      if (character === BACKSLASH) index += 1;
      else if (character === QUOTE) isInString = false;
    } else if (character === QUOTE) isInString = true;
    else if (character === OPEN_ARRAY || character === OPEN_OBJECT) {
      depth += 1;
      if (depth > DEEPEST) return true;
    } else if (character === CLOSE_ARRAY || character === CLOSE_OBJECT) depth -= 1;
  }
  return false;
}
