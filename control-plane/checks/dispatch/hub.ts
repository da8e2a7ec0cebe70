import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Clock, Random } from "#shared/time/clock.ts";
import type { Hello } from "#shared/protocol/probe.ts";
import type { Enrolled } from "#control-plane/checks/dispatch/admission.ts";
import { createArtifacts } from "#control-plane/checks/dispatch/artifacts.ts";
import {
  announceReplicas,
  applyEnrolment,
  attachAgent,
  countRejection,
  type AttachedStream,
} from "#control-plane/checks/dispatch/attach-agent.ts";
import { registerDispatchGauges } from "#control-plane/checks/dispatch/gauges.ts";
import type { Rejection } from "#control-plane/checks/dispatch/hello.ts";
import type { JobAnswer, JobRequest } from "#control-plane/checks/dispatch/job.ts";
import { detachSession, startSilenceSweep } from "#control-plane/checks/dispatch/lost-agents.ts";
import { createDispatchMetrics } from "#control-plane/checks/dispatch/metrics.ts";
import type { Presence } from "#control-plane/checks/dispatch/presence.ts";
import { createRoster, type Roster } from "#control-plane/checks/dispatch/roster.ts";
import type { AgentLink } from "#control-plane/checks/dispatch/session.ts";
import { startJob } from "#control-plane/checks/dispatch/start-job.ts";
import type { HubState } from "#control-plane/checks/dispatch/state.ts";
import { createReleasingMap } from "#control-plane/core/releasing-map.ts";

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
