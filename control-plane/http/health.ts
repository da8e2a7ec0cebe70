import { Type } from "typebox";
import type { FastifyInstance, RouteHandlerMethod } from "fastify";
import type { App } from "#control-plane/core/app.ts";
import type { UpgradeProgress } from "#control-plane/core/migrations/migrate.ts";

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

  route(server, "/healthz", (_request, reply) => reply.header("cache-control", "no-store").send({ status: "ok" }));

  route(server, "/readyz", async (_request, reply) => {
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

/**
 * Registers both for a process whose service cannot start yet because it upgrades the database: it is alive, and not ready.
 * `progress` returns null before the first migration, while a backup is made.
 */
export function registerUpgradeHealth(server: FastifyInstance, progress: () => UpgradeProgress | null): void {
  route(server, "/healthz", (_request, reply) =>
    reply.header("cache-control", "no-store").send({ status: "upgrading" }),
  );
  route(server, "/readyz", (_request, reply) => {
    const now = progress();
    const upgrade =
      now === null
        ? {}
        : { upgrade: { migration: now.migration, left: now.left, rows: now.rows, table_rows: now.tableRows } };
    return reply
      .code(503)
      .header("cache-control", "no-store")
      .send({ status: "unavailable", failing: ["migrations"], ...upgrade });
  });
}

/** Reports whether a target is one of these two, for load balancers and process managers, who ask all the time. */
export function isHealthTarget(target: string): boolean {
  return /^\/(?:healthz|readyz)(?:\?|$)/.test(target);
}

const SUMMARIES = {
  "/healthz": "Liveness: the process is running",
  "/readyz": "Readiness: the service can answer, or what prevents it",
};

function route(server: FastifyInstance, url: keyof typeof SUMMARIES, handler: RouteHandlerMethod): void {
  for (const method of ["GET", "HEAD"] as const) {
    server.route({ method, url, schema: { ...describe(url, SUMMARIES[url]), hide: method === "HEAD" }, handler });
  }
}

const READINESS = Type.Object({
  status: Type.String({ description: "ok, upgrading, ready or unavailable" }),
  degraded: Type.Optional(
    Type.Array(Type.String(), {
      description:
        "Faults that do not stop the service. agents: no agent is attached to this replica. grpc_advertise: there are several replicas, and not all advertise an address to agents (set VANTAGE_GRPC_ADVERTISE on each)",
    }),
  ),
  failing: Type.Optional(
    Type.Array(Type.String(), {
      description: "Reasons why the service cannot answer: draining, database, agents, migrations",
    }),
  ),
  upgrade: Type.Optional(
    Type.Object(
      {
        migration: Type.String({ description: "File that is being applied" }),
        left: Type.Integer({ description: "Number of files after it" }),
        rows: Type.Union([Type.Integer(), Type.Null()], {
          description: "Rows that it has moved since the start; null: it moves none",
        }),
        table_rows: Type.Union([Type.Number(), Type.Null()], {
          description: "Rows of its table, by the statistics of the database",
        }),
      },
      { description: "How far the upgrade of the database is" },
    ),
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
