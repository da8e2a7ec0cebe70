import { Counter, Gauge, type Registry } from "prom-client";
import type { Clock } from "#shared/time/clock.ts";
import { statusOf } from "#control-plane/checks/probes/status.ts";
import type { PresenceSnapshot } from "#control-plane/checks/probes/presence/snapshot.ts";

/** Metrics of presence that other code updates. */
export interface PresenceMetrics {
  readonly failures: Counter<"operation">;
  /** Records that the snapshot has just been read. */
  noteRead(): void;
}

/** Values read at each scrape. */
interface PresenceSources {
  readonly clock: Clock;
  readonly snapshot: () => PresenceSnapshot;
  /** Returns an agent's attachment to this replica; null if there is none. */
  readonly own: (probeId: string) => { readonly draining: boolean } | null;
}

/** Registers the metrics of presence. */
export function createPresenceMetrics(registry: Registry, { clock, snapshot, own }: PresenceSources): PresenceMetrics {
  let readAt = clock.monotonic();
  registry.registerMetric(
    new Gauge({
      name: "vantage_replicas",
      help: "Live replicas of the control plane known to this replica, itself included",
      registers: [],
      collect() {
        this.set(Math.max(1, snapshot().replicas.length));
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: "vantage_presence_age_seconds",
      help: "Time since this replica last read which agents are attached to which replica",
      registers: [],
      collect() {
        this.set((clock.monotonic() - readAt) / 1_000);
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: "vantage_probes",
      help: "Enrolled probe agents over all replicas, by region and status (online, draining, offline, disabled)",
      labelNames: ["region", "status"],
      registers: [],
      collect() {
        this.reset();
        for (const { agent, enabled, replicas, draining } of snapshot().probes.values()) {
          const status = statusOf({ revoked: false, enabled, here: own(agent.id), elsewhere: { replicas, draining } });
          this.inc({ region: agent.place.region, status });
        }
      },
    }),
  );
  return {
    failures: new Counter({
      name: "vantage_presence_failures_total",
      help: "Failed database statements about presence, by operation (write, read)",
      labelNames: ["operation"],
      registers: [registry],
    }),
    noteRead() {
      readAt = clock.monotonic();
    },
  };
}
