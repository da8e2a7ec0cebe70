import { pino, type Logger } from "pino";
import { createApp, type App, type AppOverrides } from "#control-plane/app.ts";
import { readConfig, type Config } from "#control-plane/config.ts";
import type { PlanName, Plans } from "#control-plane/plans/plans.ts";
import { BUILT_IN_PLANS } from "#control-plane/plans/plans.ts";
import { serve, type ServeOptions } from "#control-plane/serve.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { MASTER_KEY } from "#test/support/master-key.ts";
import { startDocumentedProxy, type DocumentedProxy } from "#test/support/documented.ts";
import { createTestDatabase } from "#test/support/postgres.ts";

/** The operator's token of every control plane under test. */
export const ADMIN_TOKEN = "operator-token-of-the-tests-0123456789";

/** A whole control plane on loopback with a database of its own, in this process. */
export interface TestControlPlane {
  readonly app: App;
  readonly databaseUrl: string;
  readonly url: string;
  readonly grpcPort: number;
  /** An answer of the API, parsed. */
  call(path: string, options?: CallOptions): Promise<Answer>;
  /** As the operator. */
  operate(method: string, path: string, body?: unknown): Promise<Answer>;
  /** A new key of a new account. */
  createKey(plan?: PlanName): Promise<string>;
  stop(): Promise<void>;
}

/** A call of the API. */
export interface CallOptions {
  readonly method?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** Status, headers and the parsed body (text where it is no JSON). */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // Tests look into bodies of many shapes.
  readonly body: Record<string, never> & { data: never; meta: never; error: never };
  readonly text: string;
}

/** What a test replaces. */
export interface ControlPlaneOptions {
  readonly overrides?: AppOverrides;
  readonly config?: Partial<Config>;
  readonly plans?: Plans;
  /** A second replica on this database, which the first one drops. */
  readonly databaseUrl?: string;
  readonly connections?: NonNullable<ServeOptions["connections"]>;
  /** Silent by default. */
  readonly log?: Logger;
}

/** Starts one. Call `stop` in afterAll. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<TestControlPlane> {
  const { databaseUrl } = options;
  const database =
    databaseUrl === undefined ? await createTestDatabase() : { url: databaseUrl, drop: () => Promise.resolve() };
  const read = readConfig({ DATABASE_URL: database.url });
  if (!read.ok) throw new Error(read.line);
  const anyPort = { host: "127.0.0.1", port: 0 };
  const app = await createApp(
    {
      config: { ...read.config, http: anyPort, grpc: anyPort, ...options.config },
      adminToken: ADMIN_TOKEN,
      masterKey: MASTER_KEY,
      plans: options.plans ?? BUILT_IN_PLANS,
      hostClock: systemClock,
      random: systemRandom,
      log: options.log ?? pino({ level: "silent" }),
    },
    options.overrides,
  );
  const service = await serve(app, {
    version: "0.0.0-test",
    ...(options.connections === undefined ? {} : { connections: options.connections }),
  });
  const url = `http://127.0.0.1:${service.ports.http}`;
  // The whole suite again with every answer held to the OpenAPI document (test/peers).
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

/** The API of a control plane at this URL, wherever it runs. */
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
    // Streams are no JSON, and broken bodies are the proxy's to refuse, not ours.
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
