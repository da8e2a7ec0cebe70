import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { loadOf, type Session } from "#control-plane/dispatch/session.ts";

/** The hub's own figures. Labels are ours or the operator's (region, tool), never a user's. */
export interface DispatchMetrics {
  readonly jobs: Counter<"tool" | "result">;
  readonly duration: Histogram<"tool">;
  readonly redispatched: Counter<"reason">;
  readonly dropped: Counter<"reason">;
  readonly rejected: Counter<"reason">;
}

/** Registers the hub's metrics; `sessions` is read at each scrape. */
export function createDispatchMetrics(registry: Registry, sessions: () => Iterable<Session>): DispatchMetrics {
  // Gauges that read the sessions at each scrape are registered by hand, the rest by their constructors.
  const registers = [registry];
  registry.registerMetric(
    new Gauge({
      name: "vantage_agents",
      help: "Attached probe agents",
      labelNames: ["region", "state"],
      registers: [],
      collect() {
        this.reset();
        for (const session of sessions()) {
          this.inc({ region: session.agent.place.region, state: session.draining ? "draining" : "online" });
        }
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: "vantage_agent_load_ratio",
      help: "Share of an agent's credits in use, highest of the region",
      labelNames: ["region"],
      registers: [],
      collect() {
        this.reset();
        const highest = new Map<string, number>();
        for (const session of sessions()) {
          const { region } = session.agent.place;
          highest.set(region, Math.max(highest.get(region) ?? 0, loadOf(session)));
        }
        for (const [region, load] of highest) this.set({ region }, load);
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: "vantage_jobs_in_flight",
      help: "Jobs held by agents or waiting for a credit",
      labelNames: ["state"],
      registers: [],
      collect() {
        let running = 0;
        let waiting = 0;
        for (const session of sessions()) {
          running += session.running.size;
          waiting += session.waiting.size;
        }
        this.set({ state: "running" }, running);
        this.set({ state: "waiting" }, waiting);
      },
    }),
  );
  return {
    jobs: new Counter({
      name: "vantage_jobs_total",
      help: "Jobs by tool and how they ended",
      labelNames: ["tool", "result"],
      registers,
    }),
    duration: new Histogram({
      name: "vantage_job_duration_seconds",
      help: "From dispatch to the final answer, re-dispatches included",
      labelNames: ["tool"],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
      registers,
    }),
    redispatched: new Counter({
      name: "vantage_jobs_redispatched_total",
      help: "Jobs given to another agent, by why",
      labelNames: ["reason"],
      registers,
    }),
    dropped: new Counter({
      name: "vantage_agent_messages_dropped_total",
      help: "Messages of agents that did not count, by why",
      labelNames: ["reason"],
      registers,
    }),
    rejected: new Counter({
      name: "vantage_agents_rejected_total",
      help: "Streams turned away, by why",
      labelNames: ["reason"],
      registers,
    }),
  };
}
