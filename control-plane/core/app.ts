import type { Logger } from "pino";
import type { Clock, Random } from "#shared/time/clock.ts";
import type { Config } from "#control-plane/core/config.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import type { Timers } from "#control-plane/core/timers.ts";
import type { Metrics } from "#control-plane/core/metrics.ts";

/** What belongs to no noun. A function names in its signature those values that it takes: `Pick<App, "sql" | "clock">`. */
export interface App {
  /** Connections to the database, for everything that has no connections of its own. */
  readonly sql: Sql;
  /** The database's clock, on which all replicas agree. */
  readonly clock: Clock;
  /** Cryptographic randomness. */
  readonly random: Random;
  /** Log of the process. */
  readonly log: Logger;
  /** What the process repeats, and when it rests. */
  readonly timers: Timers;
  /** Metrics of the process, and the registry in which each part registers its own. */
  readonly metrics: Metrics;
  /** Settings, read from the environment once. */
  readonly config: Config;
}
