import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ocspResponse } from "#test/servers/ocsp.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { createPki, daysFromNow, type Issued } from "#test/servers/pki.ts";
import { startTlsServer, type TlsServer } from "#test/servers/tls.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { systemClock } from "#test/support/clock.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { rdapDomain, startRegistries, type Registries } from "#test/support/registries.ts";
import { createMonitor } from "#test/support/create-monitor.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const SOON = { interval: 250 };

let offset = 0;
/** The service's time, which the test moves. The agents follow it. */
const clock = { ...systemClock, now: () => new Date(Date.now() + offset) };

const pki = await createPki();
const folder = mkdtempSync(join(tmpdir(), "vantage-expiry-"));
let planes: readonly TestControlPlane[] = [];
let agents: readonly AgentProcess[] = [];
let registries: Registries;
let server: TlsServer;
let responder: HttpServer;
let key = "";
let certified = 0;
let registered = 0;

/** Registration of the domain as the registry has it. */
const held = { expires: daysFromNow(15).toISOString(), status: ["active"] };
const revoked = { leaf: null as Issued | null };

const issue = (days: number, options: object = {}) =>
  pki.issue({ ip: ["127.0.0.1"], notBefore: daysFromNow(-69), notAfter: daysFromNow(days), ...options });

/** Replaces the certificate of the server. */
async function install(leaf: Issued, above: readonly Issued[] = [pki.intermediate]): Promise<void> {
  const { port } = server;
  await server.close();
  server = await startTlsServer({ chain: [leaf, ...above], port });
}

beforeAll(async () => {
  const roots = join(folder, "root.pem");
  writeFileSync(roots, pki.root.pem);
  registries = await startRegistries();
  registries.answer(() =>
    rdapDomain({
      ldhName: "SHOP.COM",
      status: held.status,
      events: [
        { eventAction: "registration", eventDate: "1995-08-14T04:00:00Z" },
        { eventAction: "expiration", eventDate: held.expires },
      ],
    }),
  );
  responder = await startHttpServer({
    handler: (_request, response) => {
      const certificate = revoked.leaf;
      if (certificate === null) return false;
      const anHourAgo = daysFromNow(-1 / 24);
      const status = { at: anHourAgo, reason: 1 };
      const window = { thisUpdate: anHourAgo, nextUpdate: daysFromNow(200) };
      const singles = [{ certificate, issuer: pki.intermediate, status, ...window }];
      response.end(ocspResponse({ signer: pki.intermediate, singles }));
      return true;
    },
  });
  server = await startTlsServer({ chain: [await issue(20), pki.intermediate] });
  const first = await startControlPlane({ overrides: { clock } });
  const second = await startControlPlane({ overrides: { clock }, databaseUrl: first.databaseUrl });
  planes = [first, second];
  const settings = { NODE_EXTRA_CA_CERTS: roots, VANTAGE_RDAP_BOOTSTRAP_URL: registries.bootstrapUrl };
  agents = await Promise.all(planes.map((plane) => startAgent(plane, "eu-west", settings)));
  key = await first.createKey("captain");
  certified = await create({ url: "127.0.0.1", port: server.port, check_type: "ssl" });
  registered = await create({ url: "shop.com", check_type: "domain" });
});

afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.stop()));
  await planes[1]?.stop();
  await planes[0]?.stop();
  await Promise.all([server?.close(), responder?.close(), registries?.close()]);
  rmSync(folder, { recursive: true, force: true });
});

interface Shown {
  readonly status: string;
  readonly ssl_days: number | null;
  readonly certificate: { readonly trusted: boolean } | null;
  readonly domain: { readonly days_left: number } | null;
  readonly domain_error: { readonly reason: string; readonly message: string } | null;
  readonly certificate_error: { readonly reason: string; readonly message: string } | null;
  readonly last_error: { readonly reason: string } | null;
  readonly checks: readonly { readonly error: { readonly reason: string } | null }[];
}

const plane = () => planes[0] as TestControlPlane;

const create = async (body: object) =>
  (await createMonitor(plane(), key, { ...body, interval_minutes: 1, retries: 0 })).id;

async function read(id: number): Promise<Shown> {
  return (await plane().call(`/api/v4/monitors?id=${id}`, { key })).body.data;
}

/** Returns the events about certificate and domain of a monitor, the oldest first. */
async function events(id: number): Promise<readonly string[]> {
  const rows = await plane().app.sql<{ type: string; threshold: string | null }[]>`
    select type, body::json -> 'data' ->> 'threshold' as threshold from events
    where monitor_id = ${id} and (type like 'ssl.%' or type like 'domain.%') order by created_at`;
  return rows.map(({ type, threshold }) => (threshold === null ? type : `${type} ${threshold}`));
}

it("an ssl and a domain monitor are up, and show what was found", async () => {
  await expect.poll(async () => (await read(certified)).status, SOON).toBe("up");
  await expect.poll(async () => (await read(certified)).ssl_days, SOON).toBe(19);
  await expect.poll(async () => (await read(registered)).status, SOON).toBe("up");
  expect((await read(registered)).domain?.days_left).toBe(14);
  expect(await events(registered)).toEqual(["domain.expiring 30"]);
});

it("their ends are noticed once on two replicas, each at its threshold", async () => {
  offset += 7 * DAY_MS;
  await expect.poll(() => events(certified), SOON).toEqual(["ssl.expiring 14"]);
  await expect.poll(() => events(registered), SOON).toEqual(["domain.expiring 30", "domain.expiring 14"]);
});

it("a replica that stops leaves the watch to the others", async () => {
  await planes[1]?.stop();
  planes = planes.slice(0, 1);
  offset += 5 * DAY_MS + HOUR_MS;
  const seen = ["domain.expiring 30", "domain.expiring 14", "domain.expiring 7"];
  await expect.poll(() => events(registered), SOON).toEqual(seen);
});

it("a certificate that expires makes its monitor down, and is noticed", async () => {
  offset += 9 * DAY_MS;
  await expect.poll(async () => (await read(certified)).last_error?.reason, SOON).toBe("expired");
  await expect.poll(async () => (await read(certified)).status, SOON).toBe("down");
  await expect.poll(async () => (await events(certified)).at(-1), SOON).toBe("ssl.expired");
});

it("a renewed certificate is up again and noticed as a renewal; another issuer is not a renewal", async () => {
  await install(await issue(400));
  offset += 2 * HOUR_MS;
  await expect.poll(async () => (await events(certified)).at(-1), SOON).toBe("ssl.chain_changed");
  await expect.poll(async () => (await read(certified)).status, SOON).toBe("up");
  expect((await read(certified)).ssl_days).toBeGreaterThan(300);
  await install(await issue(410, { issuer: pki.root }), []);
  offset += 2 * HOUR_MS;
  const renewals = async () => {
    const rows = await plane().app.sql<{ renewal: string }[]>`
      select body::json -> 'data' ->> 'looks_like_renewal' as renewal from events
      where monitor_id = ${certified} and type = 'ssl.chain_changed' order by created_at`;
    return rows.map(({ renewal }) => renewal);
  };
  // The check of each minute reports what it has seen, and the look follows.
  await expect
    .poll(async () => {
      offset += 60_000;
      return renewals();
    }, SOON)
    .toEqual(["true", "false"]);
});

it("a revoked certificate makes its monitor down", async () => {
  const leaf = await issue(420, { ocspUrls: [`${responder.url}/ocsp`] });
  revoked.leaf = leaf;
  await install(leaf);
  offset += 2 * HOUR_MS;
  await expect.poll(async () => (await read(certified)).last_error?.reason, SOON).toBe("revoked");
  await expect.poll(async () => (await read(certified)).status, SOON).toBe("down");
});

it("a domain that lapses makes its monitor down, and is noticed once", async () => {
  await expect.poll(async () => (await read(registered)).last_error?.reason, SOON).toBe("expired");
  held.status = ["redemption period"];
  offset += 2 * DAY_MS;
  await expect.poll(async () => (await read(registered)).last_error?.reason, SOON).toBe("redemption_period");
  await expect.poll(async () => (await read(registered)).status, SOON).toBe("down");
  expect((await events(registered)).filter((type) => type === "domain.expired")).toHaveLength(1);
  expect((await events(certified)).filter((type) => type === "ssl.expired")).toHaveLength(1);
});

it("a registry that limits questions, and a server that is gone, leave what is known, with the reason", async () => {
  registries.answer((_path, response) => {
    response.writeHead(429).end();
  });
  await server.close();
  offset += 2 * DAY_MS;
  await expect.poll(async () => (await read(registered)).domain_error?.reason, SOON).toBe("rate_limited");
  expect((await read(registered)).domain_error?.message).toContain("The registry could not be asked about shop.com: ");
  expect((await read(registered)).domain).not.toBeNull();
  await expect.poll(async () => (await read(certified)).certificate_error?.reason, SOON).toBe("refused");
  expect((await read(certified)).certificate_error?.message).toContain(
    "could not be read: The connection was refused.",
  );
  const limited = await create({ url: "limited.com", check_type: "domain" });
  await expect.poll(async () => (await read(limited)).checks[0]?.error?.reason, SOON).toBe("no_registration_data");
  expect(await read(limited)).toMatchObject({ status: "unknown", domain: null });
});
