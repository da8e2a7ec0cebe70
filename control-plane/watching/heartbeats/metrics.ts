import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** Metrics of the heartbeats at this replica. */
export interface HeartbeatMetrics {
  /** Kind of a ping; unknown: to an address without an active heartbeat. */
  readonly pings: Counter<"kind">;
  /** Time from a deadline to the commit of what follows from it, seconds. */
  readonly lag: Histogram;
}

/** Registers the metrics. */
export function createHeartbeatMetrics(registry: Registry, waiting: () => number): HeartbeatMetrics {
  const registers = [registry];
  registry.registerMetric(
    new Gauge({
      name: "vantage_heartbeat_pings_waiting",
      help: "Requests that wait for their ping to be recorded",
      registers: [],
      collect() {
        this.set(waiting());
      },
    }),
  );
  return {
    pings: new Counter({
      name: "vantage_heartbeat_pings_total",
      help: "Recorded pings; unknown: to an address without an active heartbeat",
      labelNames: ["kind"],
      registers,
    }),
    lag: new Histogram({
      name: "vantage_heartbeat_deadline_lag_seconds",
      help: "Time from the deadline of a heartbeat to the commit of what follows from it",
      buckets: [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300],
      registers,
    }),
  };
}
