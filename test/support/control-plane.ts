import { pino, type Logger } from "pino";
import { openReplica, type Replica, type ReplicaOverrides } from "#control-plane/app/replica.ts";
import { readConfig, type Config } from "#control-plane/core/config.ts";
import type { PlanName, Plans } from "#control-plane/core/plans.ts";
import { serve, type ServeOptions } from "#control-plane/app/server.ts";
import { ROOT } from "#test/laws/source-files.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { MASTER_KEY } from "#test/support/master-key.ts";
import { startDocumentedProxy, type DocumentedProxy } from "#test/support/documented.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { WIDE_PLANS } from "#test/support/wide-plans.ts";

/** Operator token of every control plane under test. */
export const ADMIN_TOKEN = "operator-token-of-the-tests-0123456789";

/** A whole control plane in this process, on loopback, with a separate database. */
export interface TestControlPlane {
  readonly app: Replica;
  readonly databaseUrl: string;
  readonly url: string;
  readonly grpcPort: number;
  /** Calls the API and parses the answer. */
  call(path: string, options?: CallOptions): Promise<Answer>;
  /** Calls the admin API as the operator. */
  operate(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Creates an account with a key and returns the key. */
  createKey(plan?: PlanName): Promise<string>;
  stop(): Promise<void>;
}

/** Options of an API call. */
export interface CallOptions {
  readonly method?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** Status, headers and parsed body (text if it is not JSON). */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // Loosely typed, because tests read bodies of many shapes.
  readonly body: Record<string, never> & { data: never; meta: never; error: never };
  readonly text: string;
}

/** Parts that a test replaces. */
export interface ControlPlaneOptions {
  readonly overrides?: ReplicaOverrides;
  readonly config?: Partial<Config>;
  /** Default: a captain without limits on requests, because a test that waits longer asks more often. */
  readonly plans?: Plans;
  /** For a second replica on this database. The first one drops the database. */
  readonly databaseUrl?: string;
  readonly connections?: NonNullable<ServeOptions["connections"]>;
  /** Default: that of every control plane under test. */
  readonly masterKey?: Uint8Array;
  /** Folder of the program. Default: this clone. */
  readonly root?: string;
  /** Default: logs nothing. */
  readonly log?: Logger;
}

/** Starts a control plane. Call `stop` in afterAll. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<TestControlPlane> {
  const { databaseUrl } = options;
  const database =
    databaseUrl === undefined ? await createTestDatabase() : { url: databaseUrl, drop: () => Promise.resolve() };
  const read = readConfig({ DATABASE_URL: database.url });
  if (!read.ok) throw new Error(read.line);
  const anyPort = { host: "127.0.0.1", port: 0 };
  const app = await openReplica(
    {
      config: { ...read.config, http: anyPort, grpc: anyPort, ...options.config },
      adminToken: ADMIN_TOKEN,
      masterKey: options.masterKey ?? MASTER_KEY,
      plans: options.plans ?? WIDE_PLANS,
      hostClock: systemClock,
      random: systemRandom,
      log: options.log ?? pino({ level: "silent" }),
    },
    options.overrides,
  );
  const service = await serve(app, {
    version: "0.0.0-test",
    homepage: "https://vantage.example",
    root: options.root ?? ROOT,
    ...(options.connections === undefined ? {} : { connections: options.connections }),
  });
  const url = `http://127.0.0.1:${service.ports.http}`;
  // Runs the whole suite again with every answer checked against the OpenAPI document (test/peers).
  const documented = process.env["TEST_THROUGH"] === "prism" ? await startDocumentedProxy(url) : undefined;
  return {
    app,
    databaseUrl: database.url,
    url,
    grpcPort: service.ports.grpc,
    ...apiOf(url, documented),
    async stop() {
      documented?.close();
      await service.stop();
      await app.close();
      await database.drop();
    },
  };
}

/** Creates a client of the API at this URL. */
export function apiOf(
  url: string,
  documented?: DocumentedProxy,
): Pick<TestControlPlane, "call" | "operate" | "createKey"> {
  const call = async (
    path: string,
    { key, method: given, headers, body, signal }: CallOptions = {},
  ): Promise<Answer> => {
    const method = given ?? (body === undefined ? "GET" : "POST");
    const hasKey = key !== undefined || headers?.["authorization"] !== undefined;
    // Streams are not JSON, and the product, not the proxy, must reject broken bodies.
    const isApart = headers?.["accept"]?.includes("event-stream") === true || typeof body === "string";
    const isHeld = !isApart && documented?.covers({ method, path, hasKey }) === true;
    const response = await fetch(`${isHeld ? documented.url : url}${path}`, {
      method,
      headers: {
        ...(key === undefined ? {} : { "x-api-key": key }),
        ...(body === undefined || typeof body === "string" ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") === true;
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: (isJson ? JSON.parse(text) : {}) as never,
    };
  };
  const operate = (method: string, path: string, body?: unknown) =>
    call(path, {
      method,
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      ...(body === undefined ? {} : { body }),
    });
  return {
    call,
    operate,
    async createKey(plan = "captain") {
      const { body } = await operate("POST", "/api/admin/keys", { plan });
      return (body.data as { key: string }).key;
    },
  };
}
