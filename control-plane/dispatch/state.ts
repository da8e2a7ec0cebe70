import type { Logger } from "pino";
import type { Clock } from "#shared/clock.ts";
import type { DispatchMetrics } from "#control-plane/dispatch/metrics.ts";
import type { Roster } from "#control-plane/dispatch/roster.ts";
import type { RunningJob } from "#control-plane/dispatch/session.ts";

/** What the parts of the hub work on together. */
export interface HubState {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: DispatchMetrics;
  readonly roster: Roster;
  /** Every job without an answer yet, by id. */
  readonly jobs: Map<string, RunningJob>;
  /** No job is given out any more. */
  stopped: boolean;
}
