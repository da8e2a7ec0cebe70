import type { Logger } from "pino";
import { type Registry, Gauge } from "prom-client";
import type { Clock, Random } from "#shared/time/clock.ts";
import type { Hello } from "#shared/protocol/probe.ts";
import type { Enrolled } from "#control-plane/checks/dispatch/admission.ts";
import { requestLog } from "#control-plane/checks/dispatch/agent-log.ts";
import { createArtifacts } from "#control-plane/checks/dispatch/artifacts.ts";
import {
  announceReplicas,
  applyEnrolment,
  attachAgent,
  countRejection,
  type AttachedStream,
} from "#control-plane/checks/dispatch/attach-agent.ts";
import type { Rejection } from "#control-plane/checks/dispatch/hello.ts";
import type { JobAnswer, JobRequest } from "#control-plane/checks/dispatch/job.ts";
import { detachSession, startSilenceSweep } from "#control-plane/checks/dispatch/lost-agents.ts";
import { createDispatchMetrics } from "#control-plane/checks/dispatch/metrics.ts";
import type { Presence } from "#control-plane/checks/dispatch/presence.ts";
import { createRoster, type Roster } from "#control-plane/checks/dispatch/roster.ts";
import {
  type AgentLink,
  type LogAnswer,
  type RunningJob,
  loadOf,
  type Session,
} from "#control-plane/checks/dispatch/session.ts";
import type { HubState } from "#control-plane/checks/dispatch/state.ts";
import { createReleasingMap } from "#control-plane/core/releasing-map.ts";
import { DEADLINE_GRACE_MS } from "#shared/protocol/wire.ts";
import { assignJob } from "#control-plane/checks/dispatch/assign-job.ts";
import { cancelJob, expireJob, finishJob } from "#control-plane/checks/dispatch/end-job.ts";

/** Manages the attached agents and runs jobs on them. Each job has exactly one answer. */
export interface Hub {
  readonly replicaId: string;
  readonly roster: Roster;
  /** Attaches a new stream or rejects it. A second stream of an agent replaces the first. */
  attach(hello: Hello, link: AgentLink, enrolled: Enrolled): AttachedStream | Rejection;
  /** Applies a changed enrolment to the agent's stream; `null` (revoked) ends it immediately. */
  applyEnrolment(agentId: string, enrolled: Enrolled | null): void;
  /** Counts a stream rejected before its hello, and returns the rejection. */
  refuse(rejection: Rejection): Rejection;
  /** Runs a job on an agent of the request's choice; resolves by its deadline + 200 ms, never rejects. */
  run(request: JobRequest): Promise<JobAnswer>;
  /** Asks an agent for its log; resolves within 5 s. */
  readLog(agentId: string): Promise<LogAnswer>;
  /** Ends every stream; jobs still running are answered as unavailable. */
  stop(): void;
}

/** Dependencies of the hub. */
interface HubOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly registry: Registry;
  /** Other replicas and the agents attached there; absent: this replica is alone. */
  readonly presence?: Presence;
  /** Name of this replica; generated if absent. */
  readonly replicaId?: string;
}

/** Creates the hub. */
export function createHub(options: HubOptions): Hub {
  const { clock, random, log, registry, presence } = options;
  const replicaId = options.replicaId ?? Buffer.from(random.bytes(8)).toString("hex");
  const roster = createRoster(clock, presence);
  const hub: HubState = {
    clock,
    log,
    metrics: createDispatchMetrics(registry),
    roster,
    replicaId,
    presence,
    artifacts: createArtifacts(),
    jobs: createReleasingMap(),
    jobsStarted: 0,
    stopped: false,
  };
  registerDispatchGauges(registry, () => roster.sessions());
  presence?.onReplicas(() => announceReplicas(hub));
  const sweep = startSilenceSweep(hub);
  return {
    replicaId,
    roster,
    attach: (hello, link, enrolled) => attachAgent(hub, hello, link, enrolled),
    applyEnrolment: (agentId, enrolled) => applyEnrolment(hub, agentId, enrolled),
    refuse: (rejection) => countRejection(hub, rejection),
    run: (request) => new Promise((settle) => startJob(hub, request, settle)),
    readLog: (agentId) => requestLog(roster.session(agentId)),
    stop() {
      hub.stopped = true;
      sweep.stop();
      for (const session of roster.sessions()) {
        detachSession(hub, session, "stopped");
        session.link.close();
      }
    },
  };
}

/** Starts a job; `settle` gets its one answer by the deadline + DEADLINE_GRACE_MS. */
function startJob(hub: HubState, request: JobRequest, settle: (answer: JobAnswer) => void): void {
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

/** Registers the gauges that are computed from the sessions at each scrape. */
function registerDispatchGauges(registry: Registry, sessions: () => Iterable<Session>): void {
  /** Registers a sum over the sessions; 0 is shown too, to distinguish an idle region from a missing one. */
  const sum = <L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    read: (session: Session) => readonly (readonly [Record<L, string>, number])[],
  ): void => {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        labelNames: [...labelNames],
        registers: [],
        collect() {
          this.reset();
          for (const session of sessions()) {
            for (const [labels, value] of read(session)) this.inc(labels, value);
          }
        },
      }),
    );
  };
  /** Registers the highest value of each region. */
  const highest = (name: string, help: string, read: (session: Session) => number): void => {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        labelNames: ["region"],
        registers: [],
        collect() {
          this.reset();
          const worst = new Map<string, number>();
          for (const session of sessions()) {
            const { region } = session.agent.place;
            worst.set(region, Math.max(worst.get(region) ?? 0, read(session)));
          }
          for (const [region, value] of worst) this.set({ region }, value);
        },
      }),
    );
  };

  sum("vantage_agents", "Attached probe agents", ["region", "state"], (session) => [
    [{ region: session.agent.place.region, state: stateOf(session) }, 1],
  ]);
  sum(
    "vantage_agent_credits",
    "Jobs that the agents accept at the same time from this replica",
    ["region", "state"],
    (session) => {
      const { region } = session.agent.place;
      return [
        [{ region, state: "granted" }, session.credits],
        [{ region, state: "used" }, session.running.size],
      ];
    },
  );
  sum("vantage_jobs_in_flight", "Jobs held by agents or waiting for a credit", ["region", "state"], (session) => {
    const { region } = session.agent.place;
    return [
      [{ region, state: "running" }, session.running.size],
      [{ region, state: "waiting" }, session.waiting.size],
    ];
  });
  highest("vantage_agent_load_ratio", "Share of an agent's job slots in use, highest of the region", loadOf);
  highest(
    "vantage_agent_loop_lag_seconds",
    "Latest reported maximum delay of an agent's event loop, highest of the region",
    (session) => session.loopLagMs / 1_000,
  );
}

function stateOf({ draining, enrolled }: Session): string {
  if (!enrolled.enabled) return "disabled";
  return draining ? "draining" : "online";
}
