import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Clock, Random } from "#shared/clock.ts";
import type { AgentMessage, Hello, Replicas } from "#shared/protocol/probe.ts";
import { DEADLINE_GRACE_MS, PROTOCOL } from "#shared/wire.ts";
import { misnamed, REVOKED, type Enrolled } from "#control-plane/dispatch/admission.ts";
import { assign } from "#control-plane/dispatch/assign.ts";
import { cancel, expire, finish } from "#control-plane/dispatch/ending.ts";
import { registerDispatchGauges } from "#control-plane/dispatch/gauges.ts";
import { readHello, type Rejection } from "#control-plane/dispatch/hello.ts";
import type { JobAnswer, JobRequest } from "#control-plane/dispatch/job.ts";
import { lose, moveJobs, moveWaiting, SWEEP_MS, sweepSilent } from "#control-plane/dispatch/leases.ts";
import { createDispatchMetrics } from "#control-plane/dispatch/metrics.ts";
import type { Presence } from "#control-plane/dispatch/presence.ts";
import { receive } from "#control-plane/dispatch/receive.ts";
import { createRoster, type Roster } from "#control-plane/dispatch/roster.ts";
import { openSession, type AgentLink, type RunningJob } from "#control-plane/dispatch/session.ts";
import type { HubState } from "#control-plane/dispatch/state.ts";

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
  /** The other replicas and the agents attached there; absent: this replica is alone. */
  readonly presence?: Presence;
  /** The name this replica has among them; made up where it has none yet. */
  readonly replicaId?: string;
}

/** Builds the hub; it lives as long as the process. */
export function createHub(options: HubOptions): Hub {
  const { clock, random, log, registry, presence } = options;
  const replicaId = options.replicaId ?? Buffer.from(random.bytes(8)).toString("hex");
  const roster = createRoster(clock, presence);
  const hub: HubState = {
    clock,
    log,
    metrics: createDispatchMetrics(registry),
    roster,
    jobs: new Map(),
    stopped: false,
  };
  registerDispatchGauges(registry, () => roster.sessions());
  let nextJob = 0;

  const replicas = (): Replicas | undefined => presence && { replicas: presence.replicas().map((one) => ({ ...one })) };
  presence?.onReplicas(() => {
    const value = replicas();
    if (value === undefined) return;
    for (const session of roster.sessions()) session.link.send({ body: { $case: "replicas", value } });
  });

  let sweptAt = clock.monotonic();
  const sweep = setInterval(() => {
    const now = clock.monotonic();
    sweepSilent(hub, Math.max(0, now - sweptAt - SWEEP_MS));
    sweptAt = now;
  }, SWEEP_MS);
  sweep.unref();

  function refuse(rejection: Rejection): Rejection {
    hub.metrics.rejected.inc({ reason: rejection.reason });
    return rejection;
  }

  return {
    replicaId,
    roster,
    attach(hello, link, enrolled) {
      const read = readHello(hello);
      if (!read.ok) return refuse(read.rejection);
      const { agent } = read;
      const otherName = misnamed(agent, enrolled);
      if (otherName !== null) return refuse(otherName);
      const older = roster.session(agent.id);
      const session = openSession(agent, enrolled, link, clock.monotonic(), clock.now());
      roster.join(session);
      log.info({ agent: agent.id, region: agent.place.region }, "agent attached");
      const timeMs = clock.now().getTime();
      const welcome = { replicaId, protocol: PROTOCOL, timeMs, replicas: replicas() };
      link.send({ body: { $case: "welcome", value: welcome } });
      if (older !== undefined) {
        moveJobs(hub, older, "replaced");
        older.link.close();
      }
      return {
        receive: (message) => {
          session.heardAt = clock.monotonic();
          session.seenAt = clock.now();
          receive(hub, session, message);
        },
        closed: () => lose(hub, session, "closed"),
      };
    },
    applyEnrolment(agentId, enrolled) {
      const session = roster.session(agentId);
      if (enrolled === null) {
        if (session !== undefined) lose(hub, session, "revoked");
        session?.link.close({ body: { $case: "rejected", value: refuse(REVOKED) } });
        roster.forget(agentId);
      } else if (session !== undefined) {
        session.enrolled = enrolled;
        roster.changed(session);
        if (!enrolled.enabled) moveWaiting(hub, session);
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
          accountId: request.accountId,
          startedAt,
          deadlineAt: startedAt + request.deadlineMs,
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
          onAbort: () => cancel(hub, job),
        };
        hub.jobs.set(job.id, job);
        if (request.signal?.aborted === true) return finish(hub, job, { kind: "cancelled" });
        request.signal?.addEventListener("abort", job.onAbort, { once: true });
        job.timer = setTimeout(() => expire(hub, job), request.deadlineMs + DEADLINE_GRACE_MS);
        assign(hub, job);
      }),
    stop() {
      hub.stopped = true;
      clearInterval(sweep);
      for (const session of roster.sessions()) {
        lose(hub, session, "stopped");
        session.link.close();
      }
    },
  };
}
