import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** Metrics of the agent. Events are reported by calls, states are read at each scrape. */
export interface AgentMetrics {
  jobDone(tool: string, result: "ok" | "failed" | "refused" | "invalid" | "too_large", elapsedMs: number): void;
  jobStopped(tool: string, why: "cancelled" | "abandoned"): void;
  jobDeclined(reason: "busy" | "draining" | "incapable"): void;
  tooLarge(what: "progress"): void;
  streamClosed(reason: string): void;
  /** An established stream was lost and its address is dialled again. */
  reconnecting(): void;
  renewed(result: "ok" | "failed"): void;
  /** The ICMP process exited and was restarted. */
  icmpRestarted(): void;
  /** Results of the self-test of the agent's own network, by canary; null if unknown. */
  canaries(results: Readonly<Record<string, boolean | null>>): void;
  /** Sets the sources of the states that are read at each scrape. */
  read(sources: AgentGauges): void;
}

/** Sources of the current states. */
interface AgentGauges {
  jobsRunning(): number;
  /** Worst recent delay of the process's event loop, in seconds. */
  loopLag(): number;
  streams(): { readonly dialling: number; readonly standing: number };
  /** Live replicas of the control plane, by whether a stream to them is established. */
  replicas(): { readonly reached: number; readonly missing: number };
  credits(): { readonly granted: number; readonly pool: number };
  /** Expiry of the client certificate, in Unix seconds. */
  certificateExpiry(): number;
  /** Seconds since the last self-test of the agent's own network; null before the first one. */
  canaryAge(): number | null;
  /** Whether raw sockets of each address family are usable now. */
  rawSockets(): { readonly icmp4: boolean; readonly icmp6: boolean };
}

/** Registers the agent's metrics. */
export function createAgentMetrics(registry: Registry): AgentMetrics {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Counter({ name: `vantage_agent_${name}`, help, labelNames, registers });
  const jobs = counter("jobs_total", "Jobs completed by this agent, by tool and result", "tool", "result");
  const declined = counter("jobs_declined_total", "Jobs declined without an attempt, by reason", "reason");
  const tooLarge = counter("messages_too_large_total", "Progress events dropped because of their size", "kind");
  const closed = counter("stream_closed_total", "Established streams to replicas that ended, by reason", "reason");
  const reconnects = counter("reconnects_total", "Established streams that were lost and are dialled again");
  const renewals = counter("certificate_renewals_total", "Attempts to renew the client certificate", "result");
  const restarts = counter("icmp_restarts_total", "ICMP processes that died and were restarted");
  const duration = new Histogram({
    name: "vantage_agent_job_duration_seconds",
    help: "Duration of answered jobs, by tool",
    labelNames: ["tool"],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60],
    registers,
  });
  const canaries = new Gauge({
    name: "vantage_agent_self_test",
    help: "Whether a canary of the agent's own network answered the last query (1) or not (0)",
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
  gauge("jobs_running", "Jobs running on this agent", () => sources.jobsRunning());
  gauge("jobs_limit", "Maximum of concurrent jobs of this agent over all streams", () => sources.credits().pool);
  gauge(
    "credits_granted",
    "Concurrent jobs that all replicas together are allowed to run on this agent",
    () => sources.credits().granted,
  );
  gauge("loop_lag_seconds", "Worst recent delay of this process's event loop", () => sources.loopLag());
  gauge("certificate_expiry_timestamp_seconds", "End of the client certificate, Unix time", () =>
    sources.certificateExpiry(),
  );
  gauge("canary_age_seconds", "Time since the last self-test of the agent's own network", () => sources.canaryAge());
  gauges("streams", "Streams to replicas of the control plane, by state", "state", () => ({ ...sources.streams() }));
  gauges("replicas", "Live replicas of the control plane, by whether a stream to them is established", "state", () => ({
    ...sources.replicas(),
  }));
  gauges("ready", "Whether the agent has the capability now (1) or not (0)", "capability", () => {
    const { icmp4, icmp6 } = sources.rawSockets();
    return { icmp4: Number(icmp4), icmp6: Number(icmp6) };
  });
}
