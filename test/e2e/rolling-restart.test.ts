import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { connect } from "#control-plane/core/database/connect.ts";
import { hasErrorCode } from "#shared/contracts/error-code.ts";
import { startAgent } from "#test/support/agent-process.ts";
import { startControlPlaneProcess, type ControlPlaneProcess } from "#test/support/control-plane-process.ts";
import { freePort } from "#test/support/free-port.ts";
import { createTestDatabase } from "#test/support/postgres.ts";

const WORKERS = 3;
/** A plan has 1,000 monitors. */
const MOST_MADE = 300;

/** What a load balancer knows of a replica. */
interface Backend {
  readonly ports: { readonly http: number; readonly grpc: number };
  plane: ControlPlaneProcess;
}

it("two replicas that restart one after the other under load fail no request, and lose and double no write", async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const site = createServer((_request, response) => response.end("up")).listen(0, "127.0.0.1");
  await once(site, "listening");
  const { port } = site.address() as AddressInfo;
  onTestFinished(() => void site.close());
  const start = (ports: Backend["ports"]): Promise<ControlPlaneProcess> =>
    startControlPlaneProcess(database.url, {
      ports,
      settings: { VANTAGE_GRPC_ADVERTISE: `localhost:${ports.grpc}`, VANTAGE_ALLOW_TARGETS: "127.0.0.0/8" },
    });
  const backends: Backend[] = [];
  for (let count = 0; count < 2; count += 1) {
    const ports = { http: await freePort(), grpc: await freePort() };
    const backend: Backend = { ports, plane: await start(ports) };
    backends.push(backend);
    onTestFinished(async () => void (await backend.plane.end("SIGKILL")));
  }
  const [first, second] = backends as [Backend, Backend];
  const agent = await startAgent(first.plane, "eu-west", { VANTAGE_ALLOW_TARGETS: "127.0.0.0/8" });
  onTestFinished(() => agent.stop());
  const key = await first.plane.createKey();
  for (const { ports } of backends) await untilReady(ports.http);

  // As load balancers do: the next one that is ready, and another one only if nothing was sent.
  let turn = 0;
  const balance = async (path: string, body?: object): Promise<{ readonly status: number; readonly data: unknown }> => {
    for (;;) {
      const { ports } = backends[(turn += 1) % 2] as Backend;
      if (!(await readiness(ports.http)).isReady) continue;
      try {
        const response = await fetch(`http://127.0.0.1:${ports.http}${path}`, {
          headers: { "x-api-key": key, ...(body === undefined ? {} : { "content-type": "application/json" }) },
          ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
        });
        return { status: response.status, data: ((await response.json()) as { readonly data?: unknown }).data };
      } catch (error) {
        if (!(error instanceof Error) || !hasErrorCode(error.cause, "ECONNREFUSED")) throw error;
      }
    }
  };

  const failed: unknown[] = [];
  const made: number[] = [];
  let asked = 0;
  const over = new AbortController();
  const work = async (worker: number): Promise<void> => {
    for (let count = 0; !over.signal.aborted; count += 1) {
      const name = `${worker}-${count}`;
      const requests: readonly (readonly [string, object?])[] = [
        ["/api/v4/monitors"],
        ["/api/v4/monitors", { name, check_type: "heartbeat", heartbeat: { period_seconds: 3600 } }],
        [`/api/v4/check?url=${encodeURIComponent(`http://127.0.0.1:${port}/${name}`)}`],
      ];
      for (const [path, body] of requests) {
        if (body !== undefined && count >= MOST_MADE) continue;
        asked += 1;
        // A refused or broken connection is a failed request too.
        const answer = await balance(path, body).catch((error: unknown) => ({ status: String(error), data: error }));
        if (answer.status !== 200 && answer.status !== 201) failed.push([path, answer]);
        else if (body !== undefined) made.push((answer.data as { readonly id: number }).id);
      }
    }
  };
  const load = Array.from({ length: WORKERS }, (_, worker) => work(worker));
  const untilAsked = async (more: number): Promise<void> => {
    const wanted = asked + more;
    await expect.poll(() => asked).toBeGreaterThan(wanted);
  };
  await untilAsked(50);
  for (const backend of [first, second]) {
    expect(await backend.plane.end("SIGTERM")).toBe(0);
    await untilAsked(30);
    backend.plane = await start(backend.ports);
    await untilReady(backend.ports.http);
    await untilAsked(30);
  }
  over.abort();
  await Promise.all(load);
  expect(failed).toEqual([]);
  const sql = connect(database.url, { name: "test", connections: 1, statementTimeoutMs: 0 });
  const stored = await sql`select id from monitors order by id`;
  await sql.end();
  expect(stored.map(({ id }) => Number(id))).toEqual(made.toSorted((a, b) => a - b));
});

async function readiness(port: number): Promise<{ readonly isReady: boolean; readonly hasAgents: boolean }> {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
  const { degraded = [] } = ((await response?.json()) ?? {}) as { readonly degraded?: readonly string[] };
  return { isReady: response?.status === 200, hasAgents: !degraded.includes("agents") };
}

/** Waits until a replica can take the place of the other one. After a while it is ready also without an agent. */
async function untilReady(port: number): Promise<void> {
  for (;;) {
    const { isReady, hasAgents } = await readiness(port);
    if (isReady && hasAgents) return;
    await sleep(50);
  }
}
