import { connect, type AddressInfo, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createServer } from "#control-plane/http/server.ts";
import { createMetrics } from "#control-plane/core/metrics.ts";
import { issue } from "#test/servers/pki.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { sendRaw } from "#test/support/raw-http.ts";

/** More than the kernel buffers for a connection that no client reads. */
const LARGE = Buffer.alloc(32 * 1_048_576, "x");
const STALL = { checkEveryMs: 50, checks: 6 };
/** For clients that pause and must not be disconnected: a pause on a busy machine is longer than it should be. */
const PATIENT_STALL = { checkEveryMs: 50, checks: 1_200 };
const MOST_UNANSWERED = 32;

const metrics = createMetrics({ clockOffsetMs: () => 0 });
/** Requests that a route has received and not answered. */
let inWork = 0;
let mostInWork = 0;

function makeServer(tls?: { readonly cert: string; readonly key: string }, stall = STALL): FastifyInstance {
  const config = { trustedProxies: [], v1V2Sunset: new Date("2999-01-01T00:00:00Z") };
  const deps = { clock: systemClock, random: systemRandom, log: pino({ level: "silent" }), metrics, config };
  const server = createServer(deps, tls, stall);
  server.get("/large", (_request, reply) => reply.send(LARGE));
  server.get("/slow", async () => {
    inWork += 1;
    mostInWork = Math.max(mostInWork, inWork);
    await sleep(10);
    inWork -= 1;
    return {};
  });
  server.get("/later", async () => {
    await sleep(STALL.checkEveryMs * STALL.checks * 2);
    return { at: "last" };
  });
  return server;
}

const cutOff = async (): Promise<number> => (await metrics.httpStalled.get()).values[0]?.value ?? 0;
const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

describe.each(["http", "https"])("over %s", (scheme) => {
  let server: FastifyInstance;
  let patient: FastifyInstance;

  beforeAll(async () => {
    const { pem, keyPem } = await issue({ dns: ["localhost"] });
    const tls = scheme === "https" ? { cert: pem, key: keyPem } : undefined;
    server = makeServer(tls);
    patient = makeServer(tls, PATIENT_STALL);
    for (const one of [server, patient]) await one.listen({ host: "127.0.0.1", port: 0 });
  });
  afterAll(() => Promise.all([server.close(), patient.close()]));

  /** A client that sends this and reads nothing until the test lets it. */
  function open(text: string, on = server): Socket {
    const to = { port: (on.server.address() as AddressInfo).port, host: "127.0.0.1" };
    const socket = scheme === "https" ? connectTls({ ...to, rejectUnauthorized: false }) : connect(to);
    socket.on("error", () => {}).pause();
    socket.write(text);
    return socket;
  }

  it("a client that does not read its answer is disconnected", async () => {
    const before = await cutOff();
    const socket = open(get("/large"));
    await expect.poll(cutOff).toBe(before + 1);
    // The server holds nothing of it any more.
    await expect.poll(() => connections(server)).toBe(0);
    socket.destroy();
  });

  it("a client that reads slowly gets the whole answer", async () => {
    const before = await cutOff();
    const socket = open(get("/large"), patient);
    let bytes = 0;
    socket.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      // A pause longer than one check interval, but shorter than the time after which the client is disconnected.
      if (bytes % (4 * 1_048_576) >= chunk.length) return;
      socket.pause();
      setTimeout(() => socket.resume(), PATIENT_STALL.checkEveryMs * 3);
    });
    socket.resume();
    await expect.poll(() => bytes).toBeGreaterThan(LARGE.length);
    expect(await cutOff()).toBe(before);
    socket.destroy();
  });

  it("a client that waits for its answer, or has received it, stays connected", async () => {
    const before = await cutOff();
    const socket = open(get("/later") + get("/later"));
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
    socket.resume();
    await expect.poll(() => text.match(/"last"/g)?.length).toBe(2);
    // The time after which a client is disconnected has passed when another one is, which came later.
    const other = open(get("/large"));
    await expect.poll(cutOff).toBeGreaterThan(before);
    expect(await cutOff()).toBe(before + 1);
    await expect.poll(() => connections(server)).toBe(1);
    socket.write(get("/later"));
    await expect.poll(() => text.match(/"last"/g)?.length).toBe(3);
    for (const one of [socket, other]) one.destroy();
  });
});

describe("requests that one connection sends without reading", () => {
  let server: FastifyInstance;
  let url = "";

  beforeAll(async () => {
    server = makeServer();
    url = await server.listen({ host: "127.0.0.1", port: 0 });
  });
  afterAll(() => server.close());

  const statuses = (text: string): string[] =>
    Array.from(text.matchAll(/HTTP\/1.1 (\d+)/g), ([, status]) => status ?? "");

  it("run a few at a time, and are all answered in their order", async () => {
    mostInWork = 0;
    const last = get("/nowhere").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    const text = await sendRaw(url, get("/slow").repeat(MOST_UNANSWERED - 1) + last);
    expect(statuses(text)).toEqual([...Array.from({ length: MOST_UNANSWERED - 1 }, () => "200"), "404"]);
    expect(mostInWork).toBe(8);
  });

  it("are refused above the limit, with a reason and the end of the connection", async () => {
    const text = await sendRaw(url, get("/slow").repeat(MOST_UNANSWERED + 20));
    expect(statuses(text)).toEqual([...Array.from({ length: MOST_UNANSWERED }, () => "200"), "429"]);
    expect(text).toMatch(/connection: close[^]*"reason":"pipelining"/i);
    expect(text).toMatch(/x-request-id: req_\w+[^]*"message":"This connection has more than 32 unanswered requests/i);
  });

  it("end the connection if there are many more", async () => {
    await sendRaw(url, get("/slow").repeat(2_000)).catch(() => "");
    await expect.poll(() => connections(server)).toBe(0);
    expect((await fetch(`${url}/slow`)).status).toBe(200);
  });

  it("are not even parsed far above the limit, so that one write cannot cost thousands of requests", async () => {
    const crowded = makeServer();
    const served = { parsed: 0, entered: 0 };
    crowded.server.on("request", () => (served.parsed += 1));
    crowded.addHook("onRequest", (_request, _reply, done) => {
      served.entered += 1;
      done();
    });
    const at = await crowded.listen({ host: "127.0.0.1", port: 0 });
    await sendRaw(at, get("/slow").repeat(1_500)).catch(() => "");
    await expect.poll(() => connections(crowded)).toBe(0);
    // Those that wait have not entered yet; the refused one enters no route.
    expect(served.entered).toBeLessThanOrEqual(MOST_UNANSWERED);
    // One refused request and 32 dropped ones are parsed; the next one ends the connection.
    expect(served.parsed).toBeLessThanOrEqual(MOST_UNANSWERED + 1 + 32 + 1);
    await crowded.close();
  });

  it("count even if no route matches them", async () => {
    const text = await sendRaw(
      url,
      get("/slow").repeat(8) + get("/nowhere").repeat(MOST_UNANSWERED - 8) + get("/slow"),
    );
    expect(statuses(text).at(-1)).toBe("429");
  });
});

it("a client that sends no valid HTTP and stays connected is disconnected soon after its answer", async () => {
  const server = makeServer();
  const url = await server.listen({ host: "127.0.0.1", port: 0 });
  const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {});
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  socket.write("nonsense\r\n\r\n");
  await expect.poll(() => text).toMatch(/^HTTP\/1.1 400/);
  await expect.poll(() => connections(server)).toBe(0);
  socket.destroy();
  await server.close();
});

const connections = ({ server }: FastifyInstance): Promise<number> =>
  promisify<number>((done) => server.getConnections(done))();
