import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCluster } from "#shared/client/up/postgres/cluster.ts";
import { AGENT_MEMORY, CONTROL_PLANE_MEMORY } from "#shared/client/process-memory.ts";
import { connect } from "#control-plane/core/database/connect.ts";
import { startTinyWeb } from "#test/bench/tiny-web.ts";
import type { Measured } from "#test/bench/watching/usage.ts";
import { spawnAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { startControlPlaneProcess, type ControlPlaneProcess } from "#test/support/control-plane-process.ts";
import { freePort } from "#test/support/free-port.ts";
import { makeJoinToken } from "#test/support/enrol.ts";

const MOST = 1_000_000_000;
const PLANS = {
  captain: { monitors: 1_000_000, requests_per_minute: MOST, requests_per_day: MOST },
};

/** Control plane, agents and database of a measurement, and the web server that they check. */
export interface Scene extends Measured {
  /** The first replica. */
  readonly plane: ControlPlaneProcess;
  /** Regions of the agents. */
  readonly regions: readonly string[];
  readonly key: string;
  readonly webPort: number;
  /** Address of the metrics of the control plane. */
  readonly metricsUrl: string;
  end(): Promise<void>;
}

/** `profile`: a directory for CPU profiles of the control plane and the agents, written when the scene ends. */
interface SceneOptions {
  readonly locations: number;
  /** Replicas of the control plane; default: 1. */
  readonly replicas?: number;
  readonly profile?: string | undefined;
  /** Further settings of the agents. */
  readonly agentSettings?: Readonly<Record<string, string>>;
}

/**
 * Starts everything: the embedded PostgreSQL with the settings of the product, and one agent for each location, which
 * attaches to every replica.
 */
export async function openScene(options: SceneOptions): Promise<Scene> {
  const { locations, replicas = 1, profile, agentSettings = {} } = options;
  const folder = mkdtempSync(join(tmpdir(), "vantage-watching-"));
  // Under root the database runs as nobody, which must be able to enter.
  chmodSync(folder, 0o711);
  const started = await startCluster({ root: join(folder, "postgres") });
  if (!started.ok) throw new Error(started.line);
  const { cluster } = started;
  await cluster.createDatabase("vantage");
  const plans = join(folder, "plans.json");
  writeFileSync(plans, JSON.stringify(PLANS));
  if (profile !== undefined) mkdirSync(profile, { recursive: true });
  const flags = profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`];
  const metricsPort = await freePort();
  const start = async (metricsAddress: string) => {
    const ports = { http: await freePort(), grpc: await freePort() };
    return startControlPlaneProcess(cluster.url("vantage"), {
      settings: {
        ...CONTROL_PLANE_MEMORY,
        VANTAGE_PLANS: plans,
        VANTAGE_ALLOW_TARGETS: "127.0.0.0/8",
        VANTAGE_METRICS_ADDR: metricsAddress,
        VANTAGE_GRPC_ADVERTISE: `localhost:${ports.grpc}`,
      },
      flags,
      ports,
    });
  };
  const plane = await start(`127.0.0.1:${metricsPort}`);
  const planes = [plane];
  while (planes.length < replicas) planes.push(await start("off"));
  const regions = Array.from({ length: locations }, (_, index) => `region-${index + 1}`);
  const agents: AgentProcess[] = [];
  for (const region of regions) {
    const agent = spawnAgent({
      VANTAGE_CONTROL_PLANE: `localhost:${plane.grpcPort}`,
      VANTAGE_JOIN_TOKEN: await makeJoinToken(plane, { region }),
      VANTAGE_REGION: region,
      ...agentSettings,
      ...AGENT_MEMORY,
      NODE_OPTIONS: [AGENT_MEMORY.NODE_OPTIONS, ...flags].join(" "),
    });
    await agent.says('"attached"');
    agents.push(agent);
  }
  const web = await startTinyWeb();
  const sql = connect(cluster.url("vantage"), { name: "bench", connections: 1, statementTimeoutMs: 0 });
  return {
    plane,
    regions,
    roots: {
      "control plane": planes.map(({ pid }) => pid),
      agents: agents.map(({ child }) => child.pid ?? 0),
      PostgreSQL: [cluster.server.pid],
    },
    sql,
    key: await plane.createKey("captain"),
    webPort: web.port,
    metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
    async end() {
      await sql.end();
      await Promise.all(agents.map((agent) => agent.stop()));
      await Promise.all(planes.map((each) => each.end("SIGTERM")));
      web.stop();
      await cluster.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
