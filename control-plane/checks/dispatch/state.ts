import type { Logger } from "pino";
import type { Clock } from "#shared/time/clock.ts";
import type { Artifacts } from "#control-plane/checks/dispatch/artifacts.ts";
import type { DispatchMetrics } from "#control-plane/checks/dispatch/metrics.ts";
import type { Presence } from "#control-plane/checks/dispatch/presence.ts";
import type { Roster } from "#control-plane/checks/dispatch/roster.ts";
import type { RunningJob } from "#control-plane/checks/dispatch/session.ts";
import type { ReleasingMap } from "#control-plane/core/releasing-map.ts";

/** State shared by the modules of the hub. */
export interface HubState {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: DispatchMetrics;
  readonly roster: Roster;
  /** Name of this replica. */
  readonly replicaId: string;
  /** Presence of other replicas; undefined: this replica is alone. */
  readonly presence: Presence | undefined;
  /** Files of jobs without an answer. */
  readonly artifacts: Artifacts;
  /** Jobs without an answer, by id. */
  readonly jobs: ReleasingMap<string, RunningJob>;
  /** Number of jobs started since the start of the process; part of job ids. */
  jobsStarted: number;
  /** true: no more jobs are dispatched. */
  stopped: boolean;
}
