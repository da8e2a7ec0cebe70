import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Clock, Random } from "#shared/clock.ts";
import { failed } from "#shared/outcome.ts";
import type { Hello } from "#shared/protocol/probe.ts";
import { DEADLINE_GRACE_MS, PROTOCOL, SILENT_MS } from "#shared/wire.ts";
import { misnamed, REVOKED, type Enrolled } from "#control-plane/dispatch/admission.ts";
import { readHello, type Rejection } from "#control-plane/dispatch/hello.ts";
import type { JobAnswer, JobRequest } from "#control-plane/dispatch/job.ts";
import { createDispatchMetrics } from "#control-plane/dispatch/metrics.ts";
import { receive } from "#control-plane/dispatch/receive.ts";
import { createRoster, type Roster } from "#control-plane/dispatch/roster.ts";
import { openSession, type AgentLink, type RunningJob, type Session } from "#control-plane/dispatch/session.ts";
import type { AgentMessage } from "#shared/protocol/probe.ts";

/** A job is tried on at most so many agents. */
const MAX_ATTEMPTS = 3;
const SWEEP_MS = 500;

/** What the wire gives a stream in exchange for its messages. */
export interface AttachedStream {
  receive(message: AgentMessage): void;
  /** The stream ended, for whatever reason. */
  closed(): void;
}

/** Knows the attached agents and gets jobs done by them; a job has one answer, whatever happens on the way. */
export interface Hub {
  readonly replicaId: string;
  readonly roster: Roster;
  /** Takes a new stream in, or says why not. A second stream of an agent replaces the first. */
  attach(hello: Hello, link: AgentLink, enrolled: Enrolled): AttachedStream | Rejection;
  /** An enrolment changed: the agent's stream goes on under the new one; `null`, revoked, ends it at once. */
  applyEnrolment(agentId: string, enrolled: Enrolled | null): void;
  /** Counts a stream turned away before it could say who it is, and gives the reason back. */
  refuse(rejection: Rejection): Rejection;
  /** Runs a job on an agent of the request's choice; resolves by its deadline + 200 ms, never rejects. */
  run(request: JobRequest): Promise<JobAnswer>;
  /** Ends every stream; jobs still running are answered as unavailable. */
  stop(): void;
}

/** What the hub needs from the process. */
export interface HubOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly registry: Registry;
}

/** Builds the hub; it lives as long as the process. */
export function createHub({ clock, random, log, registry }: HubOptions): Hub {
  const replicaId = Buffer.from(random.bytes(8)).toString("hex");
  const jobs = new Map<string, RunningJob>();
  const roster = createRoster(clock);
  const metrics = createDispatchMetrics(registry, () => roster.sessions());
  let nextJob = 0;
  let stopped = false;

  function assign(job: RunningJob): void {
    const agentId = stopped ? null : job.request.pick(job.excluded);
    const session = agentId === null ? undefined : roster.session(agentId);
    if (session === undefined) {
      finish(job, { kind: "unavailable", reason: job.attempt > 1 ? "probe_lost" : "no_probe" });
    } else if (session.running.size < session.credits) start(job, session);
    else {
      job.session = session;
      session.waiting.add(job);
    }
  }

  function start(job: RunningJob, session: Session): void {
    job.session = session;
    session.running.set(job.id, job);
    session.link.send({
      body: {
        $case: "job",
        value: {
          jobId: job.id,
          attempt: job.attempt,
          tool: job.request.tool,
          params: job.request.params,
          deadlineMs: Math.max(1, Math.floor(job.deadlineAt - clock.monotonic())),
          timeMs: clock.now().getTime(),
          leaseMs: SILENT_MS,
          input: job.request.input ?? "",
        },
      },
    });
  }

  /** Takes a job off its agent without an answer from it. */
  function detach(job: RunningJob): void {
    const { session } = job;
    if (session === null) return;
    job.session = null;
    session.waiting.delete(job);
    if (session.running.delete(job.id)) startWaiting(session);
  }

  function startWaiting(session: Session): void {
    for (const job of session.waiting) {
      if (session.running.size >= session.credits) return;
      session.waiting.delete(job);
      start(job, session);
    }
  }

  function finish(job: RunningJob, answer: JobAnswer): void {
    if (!jobs.delete(job.id)) return;
    if (job.timer !== null) clearTimeout(job.timer);
    job.request.signal?.removeEventListener("abort", job.onAbort);
    detach(job);
    const { tool } = job.request;
    metrics.jobs.inc({ tool, result: answer.kind === "outcome" ? answer.outcome.status : answer.kind });
    metrics.duration.observe({ tool }, (clock.monotonic() - job.startedAt) / 1000);
    job.settle(answer);
  }

  function cancel(job: RunningJob): void {
    job.session?.link.send({ body: { $case: "cancel", value: { jobId: job.id, attempt: job.attempt } } });
  }

  function expire(job: RunningJob): void {
    const { session } = job;
    if (session === null || session.waiting.has(job)) return finish(job, { kind: "unavailable", reason: "busy" });
    cancel(job);
    finish(job, {
      kind: "outcome",
      outcome: failed("response", "probe", "timeout", "the probe did not answer by the deadline"),
      agentId: session.agent.id,
      attempt: job.attempt,
      durationMs: Math.round(clock.monotonic() - job.startedAt),
    });
  }

  /** The agent is gone: what it ran goes to another one as the next attempt, what waited for it just moves on. */
  function lose(session: Session, reason: "closed" | "silent" | "replaced"): void {
    if (!roster.leave(session)) return;
    log.info({ agent: session.agent.id, region: session.agent.place.region, reason }, "agent detached");
    for (const job of [...session.running.values(), ...session.waiting]) {
      const ran = session.running.delete(job.id);
      session.waiting.delete(job);
      job.session = null;
      job.excluded.add(session.agent.id);
      if (ran) {
        metrics.redispatched.inc({ reason });
        job.attempt += 1;
        job.request.onRestart?.(session.agent.id, job.attempt, reason);
      }
      if (job.attempt > MAX_ATTEMPTS) finish(job, { kind: "unavailable", reason: "probe_lost" });
      else assign(job);
    }
  }

  function refuse(rejection: Rejection): Rejection {
    metrics.rejected.inc({ reason: rejection.reason });
    return rejection;
  }

  const sweep = setInterval(() => {
    const horizon = clock.monotonic() - SILENT_MS;
    for (const session of roster.sessions()) {
      if (session.heardAt >= horizon) continue;
      lose(session, "silent");
      session.link.close();
    }
  }, SWEEP_MS);
  sweep.unref();

  return {
    replicaId,
    roster,
    attach(hello, link, enrolled) {
      const read = readHello(hello);
      if (!read.ok) return refuse(read.rejection);
      const otherName = misnamed(read.agent, enrolled);
      if (otherName !== null) return refuse(otherName);
      const older = roster.session(read.agent.id);
      if (older !== undefined) {
        lose(older, "replaced");
        older.link.close();
      }
      const session = openSession(read.agent, enrolled, link, clock.monotonic(), clock.now());
      roster.join(session);
      log.info({ agent: read.agent.id, region: read.agent.place.region }, "agent attached");
      const timeMs = clock.now().getTime();
      link.send({ body: { $case: "welcome", value: { replicaId, protocol: PROTOCOL, timeMs, replicas: undefined } } });
      return {
        receive: (message) => {
          session.heardAt = clock.monotonic();
          session.seenAt = clock.now();
          receive({ metrics, assign, finish, startWaiting, clock }, session, message);
        },
        closed: () => lose(session, "closed"),
      };
    },
    applyEnrolment(agentId, enrolled) {
      const session = roster.session(agentId);
      if (session === undefined) return;
      if (enrolled !== null) session.enrolled = enrolled;
      else {
        lose(session, "closed");
        session.link.close({ body: { $case: "rejected", value: refuse(REVOKED) } });
      }
    },
    refuse,
    run: (request) =>
      new Promise((settle) => {
        const startedAt = clock.monotonic();
        nextJob += 1;
        const job: RunningJob = {
          id: `${replicaId}-${nextJob}`,
          request,
          startedAt,
          deadlineAt: startedAt + request.deadlineMs,
          excluded: new Set(),
          attempt: 1,
          session: null,
          timer: null,
          settle,
          onAbort: () => {
            cancel(job);
            finish(job, { kind: "cancelled" });
          },
        };
        jobs.set(job.id, job);
        if (request.signal?.aborted === true) return finish(job, { kind: "cancelled" });
        request.signal?.addEventListener("abort", job.onAbort, { once: true });
        job.timer = setTimeout(() => expire(job), request.deadlineMs + DEADLINE_GRACE_MS);
        assign(job);
      }),
    stop() {
      stopped = true;
      clearInterval(sweep);
      for (const session of roster.sessions()) {
        lose(session, "closed");
        session.link.close();
      }
    },
  };
}
