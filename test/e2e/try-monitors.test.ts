import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHECK_TYPES } from "#control-plane/outages/kinds/kinds.ts";
import { TRIED } from "#control-plane/monitors/routes/try.ts";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { startGrpcServer, type GrpcServer } from "#test/servers/grpc-health.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { createPki, daysFromNow } from "#test/servers/pki.ts";
import { startTalker, type Talker } from "#test/servers/talker.ts";
import { startTlsServer, type TlsServer } from "#test/servers/tls.ts";
import { serverFrame, startWebsocketServer, type WebsocketServer } from "#test/servers/websocket.ts";
import { runVantage } from "#test/shared/client/command-line.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { freePort } from "#test/support/free-port.ts";
import { pngOf } from "#test/support/pictures.ts";
import { rdapDomain, startRegistries, type Registries } from "#test/support/registries.ts";
import { attachVisual, type VisualAgent } from "#test/support/visual-agent.ts";

const folder = mkdtempSync(join(tmpdir(), "vantage-try-"));
const pki = await createPki();
let plane: TestControlPlane;
let agent: AgentProcess;
let browser: VisualAgent;
let web: HttpServer;
let dns: DnsServer;
let secure: TlsServer;
let redis: Talker;
let rpc: GrpcServer;
let live: WebsocketServer;
let registries: Registries;

beforeAll(async () => {
  const roots = join(folder, "root.pem");
  writeFileSync(roots, pki.root.pem);
  registries = await startRegistries();
  registries.answer((path) => {
    const name = path.split("/").at(-1) ?? "";
    const expires = daysFromNow(name.startsWith("lapsed") ? -40 : 40).toISOString();
    return rdapDomain({ ldhName: name, events: [{ eventAction: "expiration", eventDate: expires }] });
  });
  web = await startHttpServer();
  dns = await startDnsServer({
    zones: { ".": { NS: ["a.root-servers.test."] }, "www.example.net": { A: ["127.0.0.1"] } },
  });
  const leaf = await pki.issue({ ip: ["127.0.0.1"], notBefore: daysFromNow(-1), notAfter: daysFromNow(20) });
  secure = await startTlsServer({ chain: [leaf, pki.intermediate] });
  redis = await startTalker({ on: { PING: "+PONG\r\n" } });
  rpc = await startGrpcServer(1);
  live = await startWebsocketServer({ opened: (socket) => void socket.write(serverFrame(0x81, "welcome")) });
  plane = await startControlPlane();
  agent = await startAgent(plane, "eu-west", {
    VANTAGE_DNS_SERVERS: dns.address,
    VANTAGE_RDAP_BOOTSTRAP_URL: registries.bootstrapUrl,
    NODE_EXTRA_CA_CERTS: roots,
  });
  browser = await attachVisual(plane, "us-east");
});

afterAll(async () => {
  await agent?.stop();
  browser?.stop();
  await plane?.stop();
  rpc?.close();
  const servers = [web, dns, secure, redis, live, registries];
  await Promise.all(servers.map((server) => server?.close()));
  rmSync(folder, { recursive: true, force: true });
});

const CLOSED = Type.Object(TRIED.properties, { additionalProperties: false });

interface Tried {
  readonly check_type: string;
  readonly verdict: string;
  readonly cause: { readonly code: string } | null;
  readonly checks: readonly object[];
}

/** Tries a monitor with an account of its own, because tries are counted by account. */
async function tryOut(body: object): Promise<Tried> {
  const key = await plane.createKey("captain");
  const given = { locations: ["eu-west"], ...body };
  const { status, text, body: answered } = await plane.call("/api/v4/monitors?action=try", { key, body: given });
  expect(status, text).toBe(200);
  // No field is missing, and none is undocumented.
  const errors = Value.Errors(CLOSED, answered.data).map(({ instancePath, message }) => `${instancePath} ${message}`);
  expect([...errors], text).toEqual([]);
  return answered.data;
}

/** Of each kind that probes check: a monitor that is up, and one that is not, with its cause. */
const KINDS: Readonly<Record<string, () => Promise<readonly [good: object, bad: object, code: string]>>> = {
  http: async () => [{ url: `${web.url}/` }, { url: `${web.url}/status/503` }, "http_status"],
  keyword: async () => {
    const page = { url: `${web.url}/`, keyword: "Hello" };
    return [page, { ...page, keyword: "Goodbye" }, "keyword_missing"];
  },
  ssl: async () => {
    const given = { url: "127.0.0.1", port: secure.port };
    return [given, { ...given, port: await freePort() }, "connect_refused"];
  },
  domain: async () => [{ url: "shop.com" }, { url: "lapsed.com" }, "response_expired"],
  dns: async () => {
    const given = { url: "www.example.net", dns: { type: "A", op: "contains", values: ["127.0.0.1"] } };
    return [given, { ...given, dns: { ...given.dns, values: ["192.0.2.1"] } }, "dns_record_missing"];
  },
  ping: async () => [{ url: "127.0.0.1" }, { url: "gone.example.net" }, "dns_nxdomain"],
  port: async () => {
    const given = { url: "127.0.0.1", port: web.port };
    return [given, { ...given, port: await freePort() }, "connect_refused"];
  },
  tcp: async () => {
    const given = { url: `tcp://127.0.0.1:${redis.port}`, tcp: { preset: "redis" } };
    return [given, { ...given, url: `tcp://127.0.0.1:${await freePort()}` }, "connect_refused"];
  },
  grpc: async () => {
    const given = { url: `grpc://127.0.0.1:${rpc.port}` };
    return [given, { url: `grpc://127.0.0.1:${await freePort()}` }, "connect_refused"];
  },
  websocket: async () => {
    const given = { url: `ws://127.0.0.1:${live.port}/`, timeout_seconds: 1, websocket: { expect: "welcome" } };
    return [given, { ...given, websocket: { expect: "hello" } }, "timeout"];
  },
};

describe("a try through a real agent", () => {
  it("knows every kind that probes check, but for pictures", () => {
    expect(CHECK_TYPES.filter((type) => !Object.hasOwn(KINDS, type))).toEqual(["visual", "heartbeat", "composite"]);
  });

  it.each(Object.entries(KINDS))("of type %s is up, and down with its cause", async (type, open) => {
    const [good, bad, code] = await open();
    const up = await tryOut({ check_type: type, ...good });
    expect(up).toMatchObject({ check_type: type, verdict: "up", cause: null });
    expect(up.checks).toMatchObject([{ location: "eu-west", status: "up", error: null }]);
    const down = await tryOut({ check_type: type, ...bad });
    expect(down).toMatchObject({ verdict: "down", cause: { code } });
    expect(down.checks).toMatchObject([{ status: "down", error: { source: "target" } }]);
  });

  it("has the parts of the response time", async () => {
    const { checks } = await tryOut({ url: `${web.url}/` });
    expect(checks).toMatchObject([
      { http_status_code: 200, timing: { dns_ms: 0, tls_ms: 0, processing_ms: expect.any(Number) } },
    ]);
  });

  it("is down where a redirect leads to an address that is not allowed, as the monitor would be", async () => {
    const tried = await tryOut({ url: `${web.url}/to?url=http://10.0.0.1/` });
    expect(tried).toMatchObject({ verdict: "down", checks: [{ error: { reason: "target_not_allowed" } }] });
  });

  it("sends stored secrets to the url of the monitor, and none where a redirect leads to another origin", async () => {
    const elsewhere = await startHttpServer();
    try {
      const key = await plane.createKey("captain");
      const stored = {
        url: `${web.url}/to?url=${elsewhere.url}/landed`,
        request_headers: { "X-Stored": "secret-value" },
        locations: ["eu-west"],
        is_active: false,
      };
      const created = await plane.call("/api/v4/monitors", { key, body: stored });
      const { id } = created.body.data as { readonly id: number };
      await plane.call(`/api/v4/monitors?action=try&id=${id}`, { key, body: {} });
      const sentTo = (server: HttpServer, path: string) =>
        server.requests.filter((seen) => seen.path.startsWith(path)).map(({ headers }) => JSON.stringify(headers));
      expect(sentTo(web, "/to?").at(-1)).toContain("secret-value");
      expect(sentTo(elsewhere, "/landed")).toEqual([expect.not.stringContaining("secret-value")]);
      await plane.call(`/api/v4/monitors?action=try&id=${id}`, { key, body: { url: `${elsewhere.url}/moved` } });
      expect(sentTo(elsewhere, "/moved")).toEqual([expect.not.stringContaining("secret-value")]);
    } finally {
      await elsewhere.close();
    }
  });

  it("of a picture takes one, which nobody keeps", async () => {
    browser.show(pngOf(400, 300));
    const tried = await tryOut({ check_type: "visual", url: "https://example.com/", locations: ["us-east"] });
    expect(tried).toMatchObject({ verdict: "up", cause: null, checks: [{ location: "us-east", status: "up" }] });
  });
});

describe("vantage monitors try", () => {
  async function run(...fields: readonly string[]) {
    const environment = { VANTAGE_BASE_URL: plane.url, VTG_API_KEY: await plane.createKey("captain") };
    return runVantage(["monitors", "try", ...fields], environment);
  }
  const at = (url: string) => ["--set", `url=${url}`, "--set", "locations[]=eu-west"];

  it("prints what was found, and ends by the verdict", async () => {
    const up = await run(...at(`${web.url}/`));
    expect([up.status, JSON.parse(up.said)]).toMatchObject([0, { verdict: "up" }]);
    const down = await run(...at(`${web.url}/status/503`));
    expect([down.status, JSON.parse(down.said)]).toMatchObject([1, { verdict: "down" }]);
    expect((await run(...at(`${web.url}/status/503`), "--fail-on", "never")).status).toBe(0);
    const slow = [...at(`${web.url}/`), "--set", "degraded_ms=1"];
    // Whether it takes more than 1 ms is the machine's; the exit status follows the verdict of the same run.
    const warned = await run(...slow, "--fail-on", "warning");
    const { verdict } = JSON.parse(warned.said) as { readonly verdict: string };
    expect(warned.status).toBe(verdict === "degraded" ? 1 : 0);
  });

  it("tries a monitor that exists, as it is and with changes", async () => {
    const key = await plane.createKey("captain");
    const body = { url: `${web.url}/`, locations: ["eu-west"], is_active: false };
    const created = await plane.call("/api/v4/monitors", { key, body });
    const { id } = created.body.data as { readonly id: number };
    const tryOwn = (...more: readonly string[]) =>
      runVantage(["monitors", "try", String(id), ...more], { VANTAGE_BASE_URL: plane.url, VTG_API_KEY: key });
    const asItIs = await tryOwn();
    expect([asItIs.status, JSON.parse(asItIs.said)]).toMatchObject([0, { verdict: "up" }]);
    const changed = await tryOwn("--set", "expected_code=404");
    expect([changed.status, JSON.parse(changed.said)]).toMatchObject([1, { cause: { code: "http_status" } }]);
  });

  it("says what is refused, and prints nothing", async () => {
    const refused = await run(...at("http://10.0.0.1/"));
    expect(refused).toMatchObject({ status: 2, said: "" });
    expect(refused.complained).toMatch(/^vantage monitors try: target_not_allowed: /);
    const heartbeat = await run("--set", "check_type=heartbeat", "--set", "name=Backup");
    expect([heartbeat.status, JSON.parse(heartbeat.said)]).toMatchObject([0, { checked: false }]);
  });
});
