import type { Logger } from "pino";
import { openReplica, type Replica, type ReplicaConfig, type ReplicaOverrides } from "#control-plane/app/replica.ts";
import { createGatedServer, type GatedServer } from "#control-plane/accounts/gated-server.ts";
import { answer, callerOf } from "#control-plane/http/request.ts";
import { rawParams, readBody } from "#control-plane/http/body.ts";
import { createLog } from "#shared/process/log.ts";
import { BUILT_IN_PLANS, type Plans } from "#control-plane/core/plans.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { MASTER_KEY } from "#test/support/master-key.ts";

/** A replica of the HTTP side with test routes, listening on loopback. */
export interface TestGate extends GatedServer {
  readonly app: Replica<ReplicaConfig>;
  readonly url: string;
  /** Parsed log lines so far. */
  readonly lines: Record<string, unknown>[];
  /** Number of requests that the route `never` has received, and never answers. */
  held(): number;
  close(): Promise<void>;
}

export interface TestGateOptions {
  readonly databaseUrl: string;
  readonly plans?: Plans;
  readonly sunset?: Date;
  readonly overrides?: ReplicaOverrides;
  readonly trustedProxies?: readonly string[];
  readonly agents?: () => number;
  /** Used instead of `lines`. */
  readonly log?: Logger;
}

export const ADMIN_TOKEN = "operator-token-of-this-test";

/**
 * Starts a replica on a test database. Its routes: `whoami` and `echo` with a key in every version, `broken`, `away`.
 */
export async function startGate(options: TestGateOptions): Promise<TestGate> {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  const app = await openReplica(
    {
      config: {
        databaseUrl: options.databaseUrl,
        trustedProxies: options.trustedProxies ?? [],
        v1V2Sunset: options.sunset ?? new Date("2999-01-01T00:00:00Z"),
      },
      adminToken: ADMIN_TOKEN,
      masterKey: MASTER_KEY,
      plans: options.plans ?? BUILT_IN_PLANS,
      hostClock: systemClock,
      random: systemRandom,
      log: options.log ?? createLog({ destination }),
    },
    options.overrides,
  );
  const foundation = createGatedServer(app, { agents: options.agents ?? (() => 1) });
  let held = 0;
  addRoutes(foundation, () => (held += 1));
  const url = await foundation.server.listen({ host: "127.0.0.1", port: 0 });
  return {
    ...foundation,
    app,
    url,
    lines,
    held: () => held,
    async close() {
      await foundation.server.close();
      await app.close();
    },
  };
}

function addRoutes({ server, gate }: GatedServer, onHeld: () => void): void {
  server.route({
    method: "POST",
    url: "/rpc",
    handler: async (request, reply) => {
      const counts = readBody(request)["call"] === true ? "minute-and-day" : "minute";
      const caller = await gate.admit(request, reply, { scope: null, counts });
      return answer(request, caller.accountId);
    },
  });
  for (const version of ["v1", "v2", "v3", "v4"] as const) {
    const key = version === "v4" ? "headers" : "anywhere";
    server.route({
      ...gate.keyed({ scope: "check", key }),
      method: ["GET", "POST"],
      url: `/api/${version}/whoami`,
      handler: (request, reply) => {
        const { accountId, plan, scopes } = callerOf(request);
        void reply.send(
          answer(
            request,
            { account_id: accountId, plan: plan.name, scopes },
            { cached: false, location: { region: "x" } },
          ),
        );
      },
    });
    server.route({
      ...gate.keyed({ scope: null, key }),
      method: ["GET", "POST"],
      url: `/api/${version}/echo`,
      handler: async (request) => answer(request, rawParams(request)),
    });
    server.route({
      ...gate.keyed({ scope: null, key }),
      method: "POST",
      url: `/api/${version}/write`,
      handler: async (request) => answer(request, readBody(request)),
    });
    server.route({
      ...gate.keyed({ scope: "webhook", key }),
      method: "GET",
      url: `/api/${version}/hooks/:id`,
      handler: async (request) => answer(request, request.params),
    });
    server.route({
      ...gate.keyed({ scope: null, key }),
      method: "GET",
      url: `/api/${version}/never`,
      handler: () => {
        onHeld();
        return new Promise(() => {});
      },
    });
    server.route({
      ...gate.keyed({ scope: null, key }),
      method: "GET",
      url: `/api/${version}/broken`,
      handler: () => {
        throw new Error("a secret of the inside");
      },
    });
    server.route({
      ...gate.keyed({ scope: null, key }),
      method: "GET",
      url: `/api/${version}/erased`,
      handler: () => {
        const fields = { code: "23503", constraint_name: "batches_account_id_fkey" };
        throw Object.assign(new Error("violates foreign key constraint"), fields);
      },
    });
  }
}

/** Answer to a call. The body is parsed if there is one. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly data?: never;
    readonly meta?: Record<string, unknown>;
    readonly error?: { readonly code: string; readonly message: string; readonly [field: string]: unknown };
    readonly [field: string]: unknown;
  };
}

/** Calls a replica. */
export async function call(url: string, init: RequestInit & { readonly key?: string } = {}): Promise<Answer> {
  const { key, headers, ...rest } = init;
  const keyHeader = key === undefined ? {} : { "x-api-key": key };
  const response = await fetch(url, { ...rest, headers: { ...keyHeader, ...(headers as Record<string, string>) } });
  const text = await response.text();
  const body = (text === "" ? {} : JSON.parse(text)) as Answer["body"];
  return { status: response.status, headers: response.headers, body };
}

/** Calls the operator's API. `json` makes the call a write. */
export function callAdmin(gate: TestGate, method: string, path: string, json?: unknown): Promise<Answer> {
  const type = json === undefined ? {} : { "content-type": "application/json" };
  return call(`${gate.url}/api/admin${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, ...type },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });
}

/** Creates an account on a plan and a key through the operator's API. Returns the key. */
export async function makeTestKey(
  gate: TestGate,
  body: Record<string, unknown> = { plan: "captain" },
): Promise<string> {
  const made = await callAdmin(gate, "POST", "/keys", body);
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  const { key } = made.body.data as unknown as { key: string };
  return key;
}
