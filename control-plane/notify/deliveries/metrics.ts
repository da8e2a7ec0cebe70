import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { CHANNELS } from "#control-plane/notify/deliveries/delivery.ts";
import type { DeliveryCount } from "#control-plane/notify/deliveries/upkeep-store.ts";

/** Metrics of deliveries that other code updates. */
export interface DeliveryMetrics {
  /** Finished attempts by result: delivered, retry, refused. */
  readonly attempts: Counter<"channel" | "result">;
  /** Ended deliveries by final status. */
  readonly ended: Counter<"channel" | "status">;
  /** Seconds from the creation of a delivery to its success. */
  readonly latency: Histogram<"channel">;
}

/** Values read at each scrape. If the read rejects, the gauges are left out. */
interface DeliverySources {
  count(): Promise<readonly DeliveryCount[]>;
  now(): Date;
}

/** Registers the metrics of deliveries. The gauges are read from the database and are the same on every replica. */
export function createDeliveryMetrics(registry: Registry, sources: DeliverySources): DeliveryMetrics {
  // Both gauges of one scrape use the result of one query.
  let counts: Promise<readonly DeliveryCount[] | null> = Promise.resolve(null);
  registry.registerMetric(
    new Gauge({
      name: "vantage_deliveries",
      help: "Deliveries that have not ended, over all replicas",
      labelNames: ["channel", "status"],
      registers: [],
      async collect() {
        counts = sources.count().catch(() => null);
        const found = await counts;
        this.reset();
        if (found === null) return;
        for (const channel of CHANNELS) {
          for (const status of ["pending", "retrying"]) this.set({ channel, status }, 0);
        }
        for (const { channel, status, deliveries } of found) this.set({ channel, status }, deliveries);
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: "vantage_delivery_oldest_seconds",
      help: "Age of the oldest delivery that has not ended",
      labelNames: ["channel", "status"],
      registers: [],
      async collect() {
        const found = await counts;
        this.reset();
        const now = sources.now().getTime();
        for (const { channel, status, oldestAt } of found ?? []) {
          this.set({ channel, status }, Math.max(0, (now - oldestAt.getTime()) / 1_000));
        }
      },
    }),
  );
  const registers = [registry];
  return {
    attempts: new Counter({
      name: "vantage_delivery_attempts_total",
      help: "Attempts of this replica by result",
      labelNames: ["channel", "result"],
      registers,
    }),
    ended: new Counter({
      name: "vantage_deliveries_ended_total",
      help: "Deliveries that ended at this replica, by final status",
      labelNames: ["channel", "status"],
      registers,
    }),
    latency: new Histogram({
      name: "vantage_delivery_latency_seconds",
      help: "Time from the creation of a delivery to its success",
      labelNames: ["channel"],
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 30, 60, 300, 1_800, 7_200, 36_000],
      registers,
    }),
  };
}
