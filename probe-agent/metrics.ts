import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** The agent's own figures. */
export interface AgentMetrics {
  jobDone(tool: string, elapsedMs: number): void;
  jobDeclined(reason: "busy" | "draining" | "incapable"): void;
  streamOpened(): void;
  streamClosed(reason: string): void;
  /** Where the number of running jobs is read from at each scrape. */
  readRunning(read: () => number): void;
}

/** Registers the agent's metrics. */
export function createAgentMetrics(registry: Registry): AgentMetrics {
  const registers = [registry];
  const duration = new Histogram({
    name: "vantage_agent_job_duration_seconds",
    help: "Jobs run here, by tool",
    labelNames: ["tool"],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60],
    registers,
  });
  const declined = new Counter({
    name: "vantage_agent_jobs_declined_total",
    help: "Jobs sent back, by why",
    labelNames: ["reason"],
    registers,
  });
  const streams = new Gauge({
    name: "vantage_agent_streams",
    help: "Streams to control-plane replicas that stand",
    registers,
  });
  const closed = new Counter({
    name: "vantage_agent_stream_closed_total",
    help: "Streams that ended, by why",
    labelNames: ["reason"],
    registers,
  });
  return {
    jobDone: (tool, elapsedMs) => duration.observe({ tool }, elapsedMs / 1000),
    jobDeclined: (reason) => declined.inc({ reason }),
    streamOpened: () => streams.inc(),
    streamClosed: (reason) => {
      streams.dec();
      closed.inc({ reason });
    },
    readRunning(read) {
      registry.registerMetric(
        new Gauge({
          name: "vantage_agent_jobs_running",
          help: "Jobs running here",
          registers: [],
          collect() {
            this.set(read());
          },
        }),
      );
    },
  };
}
