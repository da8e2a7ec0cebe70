import { Registry } from "prom-client";
import { registerBuildInfo, type Build } from "#shared/process/build.ts";
import { listenMetrics, type MetricsListener } from "#shared/process/metrics-listener.ts";
import { formatAddress } from "#shared/settings/address.ts";
import type { Config } from "#probe-agent/config.ts";
import { createAgentMetrics, type AgentMetrics } from "#probe-agent/metrics/agent-metrics.ts";

/** The agent's metrics and their listener, or an error line for the operator. */
type OpenedMetrics =
  | {
      readonly ok: true;
      readonly metrics: AgentMetrics;
      /** null if disabled. */
      readonly listener: MetricsListener | null;
    }
  | { readonly ok: false; readonly line: string };

/** Registers the metrics of the process and the agent and serves them on VANTAGE_AGENT_METRICS_ADDR. */
export async function openMetrics(
  { address, defaulted }: Config["metrics"],
  build: Build,
  warn: (line: string) => void,
): Promise<OpenedMetrics> {
  const registry = new Registry();
  registerBuildInfo(registry, build);
  const metrics = createAgentMetrics(registry);
  if (address === null) return { ok: true, metrics, listener: null };
  try {
    const listener = await listenMetrics({ registry, ...address, orFree: defaulted });
    if (address.port !== 0 && listener.port !== address.port) {
      warn(`port ${address.port} is in use: metrics are served on port ${listener.port}`);
    }
    return { ok: true, metrics, listener };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ok: false, line: `VANTAGE_AGENT_METRICS_ADDR ${formatAddress(address)}: ${why}` };
  }
}
