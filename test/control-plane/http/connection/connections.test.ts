import { Agent, createServer, get, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import { connect, type AddressInfo, type Socket } from "node:net";
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, it } from "vitest";
import { limitConnections } from "#control-plane/http/connection/connections.ts";
import { systemClock } from "#test/support/clock.ts";

const MOST = 3;
let server: Server;
let registry: Registry;
let port: number;
let answer: (response: ServerResponse) => void;

beforeEach(async () => {
  registry = new Registry();
  answer = (response) => void response.end("ok");
  server = createServer((_request, response) => answer(response));
  limitConnections(server, MOST, { clock: systemClock, registry });
  await once(server.listen(0, "127.0.0.1"), "listening");
  ({ port } = server.address() as AddressInfo);
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Resolves when the server has closed the connection. */
async function closed(socket: Socket): Promise<void> {
  socket.on("error", () => {}).resume();
  await once(socket, "close");
}

it("the server closes a connection above the limit and counts it", async () => {
  const held = Array.from({ length: MOST }, () => connect(port, "127.0.0.1"));
  await Promise.all(held.map((socket) => once(socket, "connect")));
  await closed(connect(port, "127.0.0.1"));
  expect(await registry.metrics()).toContain("vantage_http_connections_refused_total 1");
  for (const socket of held) socket.destroy();
});

it("the server closes idle connections at the limit, so that the next caller is answered", async () => {
  const agent = new Agent({ keepAlive: true });
  const answers = Array.from({ length: MOST }, async () => {
    const [response] = await once(get({ port, host: "127.0.0.1", agent }), "response");
    await once(response.resume(), "end");
  });
  await Promise.all(answers);
  await closed(connect(port, "127.0.0.1"));
  const status = async (): Promise<number> =>
    fetch(`http://127.0.0.1:${port}/`, { headers: { connection: "close" } }).then(
      (response) => response.status,
      () => 0,
    );
  await expect.poll(status).toBe(200);
  agent.destroy();
});

it("the server closes connections without a request at the limit, but none with a running request", async () => {
  const begun = Promise.withResolvers<() => void>();
  answer = (response) => begun.resolve(() => void response.end("late"));
  const working = get({ port, host: "127.0.0.1", agent: false });
  const answered = once(working, "response");
  const finish = await begun.promise;
  const silent = Array.from({ length: MOST - 1 }, () => connect(port, "127.0.0.1"));
  const gone = silent.map(closed);
  // Each connection above the limit starts a sweep, which closes silent connections that are older than a second.
  await expect
    .poll(
      async () => {
        await closed(connect(port, "127.0.0.1"));
        return silent.every((socket) => socket.destroyed);
      },
      { interval: 100 },
    )
    .toBe(true);
  await Promise.all(gone);
  finish();
  const [response] = await answered;
  expect(response.statusCode).toBe(200);
});
