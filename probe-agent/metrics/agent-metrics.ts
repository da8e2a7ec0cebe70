import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** The agent's own figures: what happens is told by a call, what is the case is read at each scrape. */
export interface AgentMetrics {
  jobDone(tool: string, result: "ok" | "failed" | "refused" | "invalid" | "too_large", elapsedMs: number): void;
  jobStopped(tool: string, why: "cancelled" | "abandoned"): void;
  jobDeclined(reason: "busy" | "draining" | "incapable"): void;
  tooLarge(what: "progress"): void;
  streamClosed(reason: string): void;
  /** A stream that stood was lost and its address is dialled again. */
  reconnecting(): void;
  renewed(result: "ok" | "failed"): void;
  /** The ICMP process died and was started again. */
  icmpRestarted(): void;
  /** A look at the agent's own network; null: not told. */
  canaries(results: Readonly<Record<string, boolean | null>>): void;
  /** Where the state of things is read from at each scrape. */
  read(sources: AgentGauges): void;
}

/** What is the case now. */
export interface AgentGauges {
  jobsRunning(): number;
  /** Worst delay of the process's loop lately, seconds. */
  loopLag(): number;
  streams(): { readonly dialling: number; readonly standing: number };
  /** Of the replicas listed as live. */
  replicas(): { readonly reached: number; readonly missing: number };
  credits(): { readonly granted: number; readonly pool: number };
  /** End of the client certificate, Unix seconds. */
  certificateExpiry(): number;
  /** Seconds since the agent's own network was last looked at. */
  canaryAge(): number | null;
  /** Whether raw sockets of each family can be used right now. */
  rawSockets(): { readonly icmp4: boolean; readonly icmp6: boolean };
}

/** Registers the agent's metrics. */
export function createAgentMetrics(registry: Registry): AgentMetrics {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Counter({ name: `vantage_agent_${name}`, help, labelNames, registers });
  const jobs = counter("jobs_total", "Jobs that ended here, by tool and result", "tool", "result");
  const declined = counter("jobs_declined_total", "Jobs sent back without a try, by why", "reason");
  const tooLarge = counter("messages_too_large_total", "Progress events dropped for their size", "kind");
  const closed = counter("stream_closed_total", "Streams to replicas that stood and ended, by why", "reason");
  const reconnects = counter("reconnects_total", "Streams that stood, were lost and are dialled again");
  const renewals = counter("certificate_renewals_total", "Attempts to renew the client certificate", "result");
  const restarts = counter("icmp_restarts_total", "ICMP processes that died and were started again");
  const duration = new Histogram({
    name: "vantage_agent_job_duration_seconds",
    help: "Time jobs that were answered took here, by tool",
    labelNames: ["tool"],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60],
    registers,
  });
  const canaries = new Gauge({
    name: "vantage_agent_self_test",
    help: "Whether a canary of the agent's own network answered when last asked (1) or not (0)",
    labelNames: ["canary"],
    registers,
  });
  for (const result of ["ok", "failed"]) renewals.inc({ result }, 0);
  return {
    jobDone(tool, result, elapsedMs) {
      duration.observe({ tool }, elapsedMs / 1000);
      jobs.inc({ tool, result });
    },
    jobStopped: (tool, result) => jobs.inc({ tool, result }),
    jobDeclined: (reason) => declined.inc({ reason }),
    tooLarge: (kind) => tooLarge.inc({ kind }),
    streamClosed: (reason) => closed.inc({ reason }),
    reconnecting: () => reconnects.inc(),
    renewed: (result) => renewals.inc({ result }),
    icmpRestarted: () => restarts.inc(),
    canaries(results) {
      for (const [canary, result] of Object.entries(results)) {
        if (result === null) canaries.remove({ canary });
        else canaries.set({ canary }, result ? 1 : 0);
      }
    },
    read: (sources) => registerGauges(registry, sources),
  };
}

function registerGauges(registry: Registry, sources: AgentGauges): void {
  const gauge = (name: string, help: string, read: () => number | null) => {
    const collect = function (this: Gauge) {
      this.set(read() ?? Number.NaN);
    };
    registry.registerMetric(new Gauge({ name: `vantage_agent_${name}`, help, registers: [], collect }));
  };
  const gauges = (name: string, help: string, label: string, read: () => Readonly<Record<string, number>>) => {
    const collect = function (this: Gauge) {
      for (const [value, count] of Object.entries(read())) this.set({ [label]: value }, count);
    };
    registry.registerMetric(
      new Gauge({ name: `vantage_agent_${name}`, help, labelNames: [label], registers: [], collect }),
    );
  };
  gauge("jobs_running", "Jobs running here", () => sources.jobsRunning());
  gauge("jobs_limit", "Jobs this agent takes at once over all streams", () => sources.credits().pool);
  gauge("credits_granted", "Jobs that all replicas together may have here at once", () => sources.credits().granted);
  gauge("loop_lag_seconds", "Worst delay of this process's event loop since last told", () => sources.loopLag());
  gauge("certificate_expiry_timestamp_seconds", "End of the client certificate, Unix time", () =>
    sources.certificateExpiry(),
  );
  gauge("canary_age_seconds", "Time since the agent's own network was last looked at", () => sources.canaryAge());
  gauges("streams", "Streams to replicas of the control plane, by state", "state", () => ({ ...sources.streams() }));
  gauges("replicas", "Live replicas of the control plane, by whether a stream stands", "state", () => ({
    ...sources.replicas(),
  }));
  gauges("ready", "Whether the agent can do it right now (1) or not (0)", "capability", () => {
    const { icmp4, icmp6 } = sources.rawSockets();
    return { icmp4: Number(icmp4), icmp6: Number(icmp6) };
  });
}
