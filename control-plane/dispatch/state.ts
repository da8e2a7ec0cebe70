import type { Logger } from "pino";
import type { Clock } from "#shared/clock.ts";
import type { DispatchMetrics } from "#control-plane/dispatch/metrics.ts";
import type { Presence } from "#control-plane/dispatch/presence.ts";
import type { Roster } from "#control-plane/dispatch/roster.ts";
import type { RunningJob } from "#control-plane/dispatch/session.ts";

/** What the parts of the hub share. */
export interface HubState {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: DispatchMetrics;
  readonly roster: Roster;
  /** The name of this replica among the others. */
  readonly replicaId: string;
  /** The other replicas; undefined: this replica is alone. */
  readonly presence: Presence | undefined;
  /** Every job without an answer yet, by id. */
  readonly jobs: Map<string, RunningJob>;
  /** Jobs started since the process began; part of their ids. */
  jobsStarted: number;
  /** No job is given out any more. */
  stopped: boolean;
}
