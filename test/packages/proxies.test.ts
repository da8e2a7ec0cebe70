import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request, type RequestOptions } from "node:https";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect } from "node:tls";
import { pino } from "pino";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { exampleOf } from "#control-plane/surfaces/api-document/components.ts";
import { ok } from "#shared/contracts/outcome.ts";
import { SAMPLES, startProxy, type ProxyPorts, type Sample } from "#test/packages/proxies.ts";
import { createPki } from "#test/servers/pki.ts";
import { startAgent } from "#test/support/agent-process.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { createAccount, PASSWORD, startPath } from "#test/support/dashboard.ts";
import { attachScripted, helloOf } from "#test/support/scripted-agent.ts";
import { until } from "#test/support/until.ts";
import { serveAt } from "#test/support/verified-domain.ts";

const HOST = "vantage.example";
/** A status page's own domain. */
const DOMAIN = "status.example";
/** Another address than the proxy's. */
const CLIENT = "127.0.0.2";

const folder = mkdtempSync(join(tmpdir(), "vantage-proxies-"));
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true }));
const pki = await createPki();
const leaf = await pki.issue({ dns: [HOST, DOMAIN] });
const chain = `${leaf.pem}\n${pki.intermediate.pem}`;
for (const [name, content] of [
  ["fullchain.pem", chain],
  ["privkey.pem", leaf.keyPem],
  ["vantage.pem", `${chain}\n${leaf.keyPem}`],
] as const)
  writeFileSync(join(folder, name), content, { mode: 0o644 });

/** What runs now, the latest last. */
const running: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  // oxlint-disable-next-line no-await-in-loop -- in order
  for (const stop of running.splice(0).toReversed()) await stop();
});

/** Starts a proxy with its sample before a service, and waits until it answers. */
async function startBefore(plane: TestControlPlane, sample: Sample, basePath: string): Promise<ProxyPorts> {
  const proxy = await startProxy(sample, { folder, plane, isBelow: basePath !== "" });
  running.push(() => proxy.stop());
  await until(async () => {
    if (proxy.hasEnded()) return true;
    return (await ask(proxy.ports, `${basePath}/healthz`)).statusCode === 200;
  }, sample.program);
  if (proxy.hasEnded()) throw new Error(`${sample.program} has ended: ${proxy.output()}`);
  return proxy.ports;
}

/** Sends a request to a proxy; resolves with the head of its answer. */
async function ask(
  { https }: ProxyPorts,
  path: string,
  {
    body = "",
    headers = {},
    ...options
  }: Pick<RequestOptions, "method" | "servername"> & {
    readonly body?: string;
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): Promise<IncomingMessage> {
  const sent = request({
    host: "127.0.0.1",
    port: https,
    path,
    localAddress: CLIENT,
    servername: HOST,
    ca: pki.root.pem,
    agent: false,
    ...options,
    headers: { host: HOST, "content-length": Buffer.byteLength(body), ...headers },
  }).end(body);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return answer;
}

/** Sends bytes over TLS, and returns all that is answered. */
async function askRaw({ https }: ProxyPorts, bytes: string): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port: https, servername: HOST, ca: pki.root.pem });
  socket.write(bytes);
  return await text(socket);
}

describe.each([
  ["at the root of its host", ""],
  ["below a path", "/vantage"],
])("a service %s", (_place, basePath) => {
  const baseUrl = `https://${HOST}${basePath}`;
  const requests: { readonly route?: string; readonly address?: string }[] = [];

  /** Starts the service, with two agents that a test answers for. */
  async function startService() {
    const plane = await startControlPlane({
      config: { baseUrl, isBaseUrlSet: true, trustedProxies: ["127.0.0.1"] },
      log: pino({ level: "info" }, { write: (line: string) => requests.push(JSON.parse(line) as object) }),
    });
    running.push(() => plane.stop());
    const agents = [await attachScripted(plane, helloOf("eu-a")), await attachScripted(plane, helloOf("ap-a"))];
    return { plane, agents, key: await plane.createKey() };
  }

  it.each(SAMPLES)("is itself behind $program", async (sample) => {
    const { plane, agents, key } = await startService();
    const ports = await startBefore(plane, sample, basePath);

    // The client's own word about its address and its scheme does not count.
    const forged = { "x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "http" };
    const home = await ask(ports, `${basePath}/sign-in`, { headers: { ...forged, accept: "text/html" } });
    expect([home.statusCode, await text(home)]).toEqual([200, expect.stringContaining(`action="${basePath}/sign-in"`)]);
    await expect.poll(() => requests.findLast(({ route }) => route === "/sign-in")?.address).toBe(CLIENT);

    // People sign in, and get cookies for https.
    const email = "owner@example.com";
    const started = await ask(ports, await startPath(plane, await createAccount(plane)), {
      method: "POST",
      headers: { origin: `https://${HOST}`, "content-type": "application/x-www-form-urlencoded" },
      body: String(new URLSearchParams({ email, password: PASSWORD })),
    });
    expect([started.statusCode, started.headers.location]).toEqual([303, `${basePath}/app/`]);
    const cookies = started.headers["set-cookie"] ?? [];
    expect(cookies.every((one) => one.includes("; Secure"))).toBe(true);
    const cookie = cookies.map((one) => one.split(";", 1)[0]).join("; ");

    // A page arrives in pieces: what is there is there before the agents have answered.
    const form = await text(await ask(ports, `${basePath}/app/tools/ip`, { headers: { cookie } }));
    const csrf = /name="_csrf" value="([^"]*)"/.exec(form)?.[1] ?? "";
    const inPieces = ask(ports, `${basePath}/app/tools/ip`, {
      method: "POST",
      headers: { cookie, origin: `https://${HOST}`, "content-type": "application/x-www-form-urlencoded" },
      body: String(new URLSearchParams({ _csrf: csrf, host: "dns.google", locations: "eu-a,ap-a" })),
    });
    await expectPieces(inPieces, 'aria-label="Results by location"', "From 2 locations", agents);

    // So does a stream of events.
    const events = ask(ports, `${basePath}/api/v4/ip?host=dns.google&locations=eu-a,ap-a`, {
      headers: { "x-api-key": key, accept: "text/event-stream" },
    });
    await expectPieces(events, ": open", "event: done", agents);

    // The largest bodies reach the service, which says itself what it does not take.
    const large = JSON.stringify({ version: 1, padding: "x".repeat(8_000_000) });
    const refused = await ask(ports, `${basePath}/api/v4/monitors?action=import&dry_run=true`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: large,
    });
    expect([refused.statusCode, await text(refused)]).toEqual([413, expect.stringContaining("payload_too_large")]);
    const monitors = [{ name: "shop", url: "https://shop.example.com/" }];
    const imported = await ask(ports, `${basePath}/api/v4/monitors?action=import&dry_run=true`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ version: 1, monitors }).padEnd(4_000_000),
    });
    expect([imported.statusCode, await text(imported)]).toEqual([200, expect.stringContaining('"data"')]);

    // An old client gets an answer that it can read; without a Host field too, but Caddy asks for one of its names.
    for (const field of [`Host: ${HOST}\r\n`, ...(sample.program === "caddy" ? [] : [""])]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const answer = await askRaw(ports, `GET ${basePath}/healthz HTTP/1.0\r\n${field}\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.[01] 200 [^]*\r\n\r\n\{/);
    }

    // A status page of its own domain is reached by that name.
    if (basePath === "") {
      const body = { title: "Shop status", slug: "shop", domain: DOMAIN, monitors: [] };
      const made = await plane.call("/api/v4/status", { key, body });
      expect(made.status, made.text).toBe(201);
      await serveAt(plane, DOMAIN);
      const page = await ask(ports, "/", { servername: DOMAIN, headers: { host: DOMAIN } });
      expect([page.statusCode, await text(page)]).toEqual([200, expect.stringContaining("Shop status")]);
    }

    if (!sample.passesAgents) return;
    const agent = await startAgent({ ...plane, grpcPort: ports.agents }, "us-east");
    running.push(() => agent.stop());
    const checked = await plane.call(
      `/api/v4/ping?host=127.0.0.1&action=ports&ports=${ports.service}&locations=us-east`,
      { key },
    );
    expect(checked.status, checked.text).toBe(200);
  });
});

/** Expects that an answer has `first` before agents answer their jobs, and `last` after that. */
async function expectPieces(
  asked: Promise<IncomingMessage>,
  first: string,
  last: string,
  agents: readonly Awaited<ReturnType<typeof attachScripted>>[],
): Promise<void> {
  const jobs = await Promise.all(agents.map((agent) => agent.nextJob()));
  jobs.forEach((job, at) => agents[at]?.accept(job));
  const answer = await asked;
  let read = "";
  answer.setEncoding("utf8").on("data", (piece: string) => (read += piece));
  const ended = once(answer, "end");
  await expect.poll(() => read).toContain(first);
  expect(read).not.toContain(last);
  jobs.forEach((job, at) => agents[at]?.answer(job, ok(exampleOf("ip")?.data as object)));
  await ended;
  expect(read).toContain(last);
}
