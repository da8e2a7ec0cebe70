import { Gauge, type Registry } from "prom-client";

/** Number of jobs of a queue in one state. */
export interface QueueCount {
  readonly queue: string;
  /** created, retry, active, completed, cancelled or failed. */
  readonly state: string;
  readonly jobs: number;
  /** Creation time of the oldest of them. */
  readonly oldestAt: Date;
}

/** Values read at each scrape. If a read rejects, the metrics are left out. */
interface QueueSources {
  count(): Promise<readonly QueueCount[]>;
  now(): Date;
}

/** Registers the metrics of the queues. They are read from the database and are the same on every replica. */
export function registerQueueMetrics(registry: Registry, sources: QueueSources): void {
  // Both gauges of one scrape use the result of one query.
  let counts: Promise<readonly QueueCount[] | null> = Promise.resolve(null);
  registry.registerMetric(
    new Gauge({
      name: "vantage_queue_jobs",
      help: "Jobs of a queue by state, over all replicas",
      labelNames: ["queue", "state"],
      registers: [],
      async collect() {
        counts = sources.count().catch(() => null);
        const found = await counts;
        this.reset();
        for (const { queue, state, jobs } of found ?? []) this.set({ queue, state }, jobs);
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: "vantage_queue_oldest_seconds",
      help: "Age of the oldest waiting job",
      labelNames: ["queue"],
      registers: [],
      async collect() {
        const found = await counts;
        this.reset();
        const now = sources.now().getTime();
        for (const { queue, state, oldestAt } of found ?? []) {
          if (state === "created") this.set({ queue }, Math.max(0, (now - oldestAt.getTime()) / 1_000));
        }
      },
    }),
  );
}
