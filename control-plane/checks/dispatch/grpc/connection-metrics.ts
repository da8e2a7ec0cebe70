import { Counter, Gauge, type Registry } from "prom-client";
import type { ConnectionEnd } from "#control-plane/checks/dispatch/grpc/connection-table.ts";
import type { AgentConnections } from "#control-plane/checks/dispatch/grpc/connections.ts";
import type { RateLimitedLog } from "#control-plane/checks/dispatch/rate-limited-log.ts";

/** Ends without a log line here, because the refused call is already logged. */
const SILENT_ENDS: ReadonlySet<ConnectionEnd> = new Set(["refused"]);

/** Registers a counter of refused and closed connections. Returns a function that counts and logs one. */
export function countConnectionEnds(
  registry: Registry,
  log: RateLimitedLog,
): (reason: ConnectionEnd, peer: string) => void {
  const ended = new Counter({
    name: "vantage_agent_connections_ended_total",
    help: "Connections to the agents' port that this side refused or closed, by reason",
    labelNames: ["reason"],
    registers: [registry],
  });
  return (reason, peer) => {
    ended.inc({ reason });
    if (!SILENT_ENDS.has(reason)) log.warn({ peer, reason }, "connection to the agents' port closed");
  };
}

/** Registers a gauge of the open connections to the agents' port. */
export function registerConnectionGauge(registry: Registry, connections: Pick<AgentConnections, "counts">): void {
  registry.registerMetric(
    new Gauge({
      name: "vantage_agent_connections",
      help: "Open connections to the agents' port: with a valid client certificate (agent) and without (stranger)",
      labelNames: ["client"],
      registers: [],
      collect() {
        const { agents, strangers } = connections.counts();
        this.set({ client: "agent" }, agents);
        this.set({ client: "stranger" }, strangers);
      },
    }),
  );
}
