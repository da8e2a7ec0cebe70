import { Counter, Histogram, type Registry } from "prom-client";

/** Metrics of the hub. Label values come from the code or the operator (region, tool), never from a user. */
export interface DispatchMetrics {
  readonly jobs: Counter<"tool" | "result">;
  readonly duration: Histogram<"tool">;
  readonly overhead: Histogram;
  readonly leaseLosses: Counter<"reason">;
  readonly redispatched: Counter<"reason">;
  readonly declined: Counter<"reason">;
  readonly dropped: Counter<"reason">;
  readonly detached: Counter<"reason">;
  readonly rejected: Counter<"reason">;
}

/** Registers the counters and histograms of the hub; hub.ts has those computed at each scrape. */
export function createDispatchMetrics(registry: Registry): DispatchMetrics {
  const registers = [registry];
  const byReason = (name: string, help: string) =>
    new Counter({ name, help, labelNames: ["reason"] as const, registers });
  return {
    jobs: new Counter({
      name: "vantage_jobs_total",
      help: "Jobs by tool and result",
      labelNames: ["tool", "result"],
      registers,
    }),
    duration: new Histogram({
      name: "vantage_job_duration_seconds",
      help: "Time from dispatch to the final result, re-dispatches included",
      labelNames: ["tool"],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
      registers,
    }),
    overhead: new Histogram({
      name: "vantage_dispatch_overhead_seconds",
      help: "Time from dispatch to a result minus the agent's run time: queueing, network, lost attempts",
      buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5, 10],
      registers,
    }),
    leaseLosses: byReason("vantage_lease_losses_total", "Jobs whose agent was lost while it ran them, by reason"),
    redispatched: byReason("vantage_jobs_redispatched_total", "Lost jobs dispatched again, by reason of the loss"),
    declined: byReason("vantage_jobs_declined_total", "Jobs that an agent declined, by reason"),
    dropped: byReason("vantage_agent_messages_dropped_total", "Messages of agents that were ignored, by reason"),
    detached: byReason("vantage_agents_detached_total", "Agent streams that ended, by reason"),
    rejected: byReason("vantage_agents_rejected_total", "Agent streams that were rejected, by reason"),
  };
}
