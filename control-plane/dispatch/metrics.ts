import { Counter, Histogram, type Registry } from "prom-client";

/** The hub's own figures. Labels are ours or the operator's (region, tool), never a user's. */
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

/** Registers what the hub counts as it goes; what is read at each scrape stands in gauges.ts. */
export function createDispatchMetrics(registry: Registry): DispatchMetrics {
  const registers = [registry];
  const byReason = (name: string, help: string) =>
    new Counter({ name, help, labelNames: ["reason"] as const, registers });
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
    overhead: new Histogram({
      name: "vantage_dispatch_overhead_seconds",
      help: "From dispatch to a result less the agent's own time: waiting, wire, lost attempts",
      buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5, 10],
      registers,
    }),
    leaseLosses: byReason("vantage_lease_losses_total", "Jobs whose agent was lost while it held them, by why"),
    redispatched: byReason("vantage_jobs_redispatched_total", "Lost jobs given out again as the next attempt, by why"),
    declined: byReason("vantage_jobs_declined_total", "Jobs an agent would not take, by its reason"),
    dropped: byReason("vantage_agent_messages_dropped_total", "Messages of agents that did not count, by why"),
    detached: byReason("vantage_agents_detached_total", "Streams that ended, by why"),
    rejected: byReason("vantage_agents_rejected_total", "Streams turned away, by why"),
  };
}
