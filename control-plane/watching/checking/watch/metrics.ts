import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** Metrics of the monitors' checks at this replica. */
export interface WatchMetrics {
  /** Beginning of a check minus its planned time, seconds. */
  readonly lag: Histogram;
  readonly checks: Counter<"verdict">;
  /** Observations that were dropped, by reason: lease_lost, cancelled, unrecordable. */
  readonly dropped: Counter<"reason">;
  /** Checks that could not begin when they were claimed, because their target or the agents had no room. */
  readonly postponed: Counter;
  /** Planned checks that failed and passed on the re-check. */
  readonly softState: Counter;
  readonly transitions: Counter<"kind">;
}

/** Values read at each scrape. */
interface WatchSources {
  readonly running: () => number;
  readonly unrecorded: () => number;
}

/** Registers the metrics. */
export function createWatchMetrics(registry: Registry, sources: WatchSources): WatchMetrics {
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number): void => {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        collect() {
          this.set(read());
        },
      }),
    );
  };
  gauge("vantage_monitor_checks_running", "Checks of monitors that run now", sources.running);
  gauge("vantage_monitor_checks_unrecorded", "Observations that are not yet recorded", sources.unrecorded);
  return {
    lag: new Histogram({
      name: "vantage_monitor_schedule_lag_seconds",
      help: "Time from the planned beginning of a check to its beginning",
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800],
      registers,
    }),
    checks: new Counter({
      name: "vantage_monitor_checks_total",
      help: "Recorded checks of monitors",
      labelNames: ["verdict"],
      registers,
    }),
    dropped: new Counter({
      name: "vantage_monitor_checks_dropped_total",
      help:
        "Checks of monitors that were not recorded: another replica repeated them, the monitor was changed, or the " +
        "database refused them",
      labelNames: ["reason"],
      registers,
    }),
    postponed: new Counter({
      name: "vantage_monitor_checks_postponed_total",
      help: "Attempts to begin a check that were put off, because its target or the agents had no room",
      registers,
    }),
    softState: new Counter({
      name: "vantage_monitor_first_tries_failed_total",
      help: "Planned checks of monitors that failed and passed on the re-check",
      registers,
    }),
    transitions: new Counter({
      name: "vantage_monitor_transitions_total",
      help: "Changes of monitors' states",
      labelNames: ["kind"],
      registers,
    }),
  };
}
