import { Type } from "typebox";
import type { FastifyInstance, RouteHandlerMethod } from "fastify";
import type { App } from "#control-plane/core/app.ts";

// The state of the database is cached for this time, so that probes of many load balancers cost one statement.
const DATABASE_BELIEVED_MS = 1_000;
/** Maximum wait for the first agent after the start, milliseconds; afterwards the process is ready without one. */
const AGENT_GRACE_MS = 30_000;

interface DatabaseReading {
  readonly until: number;
  readonly ready: Promise<boolean>;
}

/**
 * Registers GET /healthz (the process runs) and GET /readyz (it can serve; 503 lists what is missing), without key.
 * `isDatabaseReady` returns true if the database answers and has every migration; else false or a rejection. `agents`
 * returns the number of agents attached to this replica. `degraded` returns names of faults that do not stop the
 * service, except missing agents, which are checked here. `isDraining` reports whether the process is stopping.
 */
export function registerHealth(
  server: FastifyInstance,
  deps: Pick<App, "clock"> & {
    readonly isDatabaseReady: () => Promise<boolean>;
    readonly agents: () => number;
    readonly degraded: () => readonly string[];
    readonly isDraining: () => boolean;
  },
): void {
  const startedAt = deps.clock.monotonic();
  let reading: DatabaseReading | null = null;
  let agentSeen = false;

  function isDatabaseReady(): Promise<boolean> {
    const now = deps.clock.monotonic();
    if (reading === null || reading.until <= now) {
      reading = { until: now + DATABASE_BELIEVED_MS, ready: deps.isDatabaseReady().catch(() => false) };
    }
    return reading.ready;
  }

  const route = (url: string, summary: string, handler: RouteHandlerMethod): void => {
    for (const method of ["GET", "HEAD"] as const) {
      server.route({ method, url, schema: { ...describe(url, summary), hide: method === "HEAD" }, handler });
    }
  };

  route("/healthz", "Liveness: the process is running", (_request, reply) =>
    reply.header("cache-control", "no-store").send({ status: "ok" }),
  );

  route("/readyz", "Readiness: the service can answer, or what prevents it", async (_request, reply) => {
    const attached = deps.agents() > 0;
    agentSeen ||= attached;
    const waitsForAgent = !agentSeen && deps.clock.monotonic() - startedAt < AGENT_GRACE_MS;
    const failing = [
      ...(deps.isDraining() ? ["draining"] : []),
      ...((await isDatabaseReady()) ? [] : ["database"]),
      ...(waitsForAgent ? ["agents"] : []),
    ];
    reply.header("cache-control", "no-store");
    if (failing.length > 0) return reply.code(503).send({ status: "unavailable", failing });
    return { status: "ready", degraded: [...(attached ? [] : ["agents"]), ...deps.degraded()] };
  });
}

const READINESS = Type.Object({
  status: Type.String({ description: "ok, ready or unavailable" }),
  degraded: Type.Optional(
    Type.Array(Type.String(), {
      description:
        "Faults that do not stop the service. agents: no agent is attached to this replica. grpc_advertise: there are several replicas, and not all advertise an address to agents (set VANTAGE_GRPC_ADVERTISE on each)",
    }),
  ),
  failing: Type.Optional(
    Type.Array(Type.String(), { description: "Reasons why the service cannot answer: draining, database, agents" }),
  ),
});

/** Returns the documentation of a health route; its answers have no envelope. */
function describe(url: string, summary: string) {
  return {
    operationId: url.slice(1),
    tags: ["Health"],
    summary,
    security: [],
    response: { 200: { description: "Healthy", ...READINESS }, 503: { description: "Unavailable", ...READINESS } },
  };
}
