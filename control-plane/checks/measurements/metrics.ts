import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** Metrics of measurements that other code updates. */
export interface MeasurementMetrics {
  /** Ended measurements by final status. `shared` counts answers that were stored, not run. */
  readonly ended: Counter<"status">;
  readonly lag: Histogram;
}

/** Values read from the database at each scrape. If a read rejects, its metric is left out. */
interface MeasurementSources {
  unfinished(): Promise<readonly { readonly status: string; readonly measurements: number }[]>;
}

/** Registers the metrics of measurements. Those read from the database are the same on every replica. */
export function createMeasurementMetrics(registry: Registry, sources: MeasurementSources): MeasurementMetrics {
  const registers = [registry];
  registry.registerMetric(
    new Gauge({
      name: "vantage_measurements",
      help: "Measurements that have not ended, over all replicas",
      labelNames: ["status"],
      registers: [],
      async collect() {
        const counts = await sources.unfinished().catch(() => null);
        this.reset();
        if (counts === null) return;
        for (const status of ["pending", "running"]) this.set({ status }, 0);
        for (const { status, measurements } of counts) this.set({ status }, measurements);
      },
    }),
  );
  return {
    ended: new Counter({
      name: "vantage_measurements_total",
      help: "Measurements of this replica by final status; shared: a stored result of a call with share=1",
      labelNames: ["status"],
      registers,
    }),
    lag: new Histogram({
      name: "vantage_measurement_start_lag_seconds",
      help: "Time from the request to the first run",
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60],
      registers,
    }),
  };
}
