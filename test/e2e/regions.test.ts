import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { BUILT_IN_PLANS } from "#control-plane/core/plans.ts";
import { createPki } from "#test/servers/pki.ts";
import { startTlsServer, type TlsServer } from "#test/servers/tls.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { WIDE_LIMITS, WIDE_PLANS } from "#test/support/wide-plans.ts";

let plane: TestControlPlane;
let agents: AgentProcess[];
let web: HttpServer;
let secure: TlsServer;
let dns: DnsServer;
let key: string;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "vantage-e2e-"));
  const pki = await createPki();
  writeFileSync(join(folder, "root.pem"), pki.root.pem);
  const leaf = await pki.issue({ dns: ["site.example"] });
  secure = await startTlsServer({ chain: [leaf, pki.intermediate] });
  web = await startHttpServer();
  dns = await startDnsServer({
    zones: {
      "site.example": { A: ["127.0.0.1"], MX: ["10 mail.site.example"], TXT: ["v=spf1 -all"] },
    },
  });
  plane = await startControlPlane({
    plans: { ...WIDE_PLANS, free: { ...BUILT_IN_PLANS.free, locations: 1 } },
  });
  key = await plane.createKey();
  const settings = { VANTAGE_DNS_SERVERS: dns.address, NODE_EXTRA_CA_CERTS: join(folder, "root.pem") };
  agents = await Promise.all([
    startAgent(plane, "eu-west", { ...settings, VANTAGE_COUNTRY: "IE", VANTAGE_CITY: "Dublin" }),
    startAgent(plane, "us-east", { ...settings, VANTAGE_COUNTRY: "US", VANTAGE_TAGS: "aws" }),
  ]);
});

afterAll(async () => {
  await Promise.all((agents ?? []).map((agent) => agent.stop()));
  await plane?.stop();
  await Promise.all([web?.close(), secure?.close(), dns?.close()]);
  rmSync(folder, { recursive: true });
});

/** Runs a tool in both regions at the same time and returns its two rows. */
async function runInBoth(path: string) {
  const separator = path.includes("?") ? "&" : "?";
  const answer = await plane.call(`/api/v4/${path}${separator}locations=eu-west,us-east`, { key });
  expect(answer.body).toMatchObject({
    data: { summary: { total: 2, ok: 2, failed: 0 } },
    meta: { api_version: "4.0" },
  });
  expect(answer.status).toBe(200);
  const { locations } = answer.body.data as { locations: { location: { region: string }; data: unknown }[] };
  expect(locations.map((row) => row.location.region)).toEqual(["eu-west", "us-east"]);
  return locations.map((row) => row.data as Record<string, never>);
}

describe("from two regions at the same time", () => {
  it("check returns the answer and its timing", async () => {
    for (const data of await runInBoth(`check?url=${encodeURIComponent(`${web.url}/redirect/2`)}`)) {
      expect(data).toMatchObject({ code: 200, http_version: "1.1", ip: "127.0.0.1", timing: { redirect_count: 2 } });
      const { redirect_count: _count, ...phases } = data["timing"] as unknown as Record<string, number>;
      const sum = Object.values(phases).reduce((total, phase) => total + phase, 0);
      expect(sum).toBe(data["elapsed_ms"]);
    }
  });

  it("ssl validates the certificate as a strict client does", async () => {
    for (const data of await runInBoth(`ssl?host=site.example&port=${secure.port}`)) {
      expect(data).toMatchObject({ trusted: true, trust_error: null, hostname_match: true, chain_complete: true });
    }
  });

  it("dns answers every requested type", async () => {
    for (const data of await runInBoth("dns?domain=site.example&types=A,MX")) {
      expect(data).toMatchObject({
        domain: "site.example",
        records: { A: ["127.0.0.1"], MX: ["10 mail.site.example."] },
      });
    }
  });

  it("ping has every reply", async () => {
    for (const data of await runInBoth("ping?host=127.0.0.1&count=2")) {
      expect(data).toMatchObject({ packets_sent: 2, packets_received: 2, packet_loss_percent: 0 });
    }
  });

  it("ports distinguishes open from closed", async () => {
    for (const data of await runInBoth(`ping?host=127.0.0.1&action=ports&ports=${web.port},1`)) {
      expect(data).toMatchObject({
        ports: [
          { port: web.port, state: "open" },
          { port: 1, state: "closed" },
        ],
      });
    }
  });

  it("ip returns data on the address and what it could not determine", async () => {
    for (const data of await runInBoth("ip?host=site.example")) {
      expect(data).toMatchObject({ ip: "127.0.0.1", type: "loopback" });
    }
  });

  it("health scores a site, and returns the score again from its cache", async () => {
    const path = `health?url=${encodeURIComponent(web.url)}`;
    for (const data of await runInBoth(path)) {
      expect(data).toMatchObject({ grade: expect.stringMatching(/^(A\+|[A-DF])$/), categories: { length: 4 } });
    }
    const other = `health?url=${encodeURIComponent(`${web.url}/other`)}`;
    const single = await plane.call(`/api/v4/${other}`, { key });
    expect(single.body.meta).toMatchObject({ cached: false });
    const repeated = await plane.call(`/api/v4/${other}`, { key });
    expect(repeated.body.meta).toMatchObject({ cached: true });
    expect(repeated.body.data).toEqual(single.body.data);
  });
});

describe("locations", () => {
  it("are listed with their capabilities and without addresses", async () => {
    const { body, text } = await plane.call("/api/v4/probes", { key });
    expect(body.data).toMatchObject({
      regions: [
        { region: "eu-west", country: "IE", city: "Dublin", online: 1 },
        { region: "us-east", country: "US", city: null, online: 1 },
      ],
    });
    expect(text).not.toContain("127.0.0.1");
  });

  it("can be tried without running anything", async () => {
    const seen = web.requests.length;
    const { body } = await plane.call(`/api/v4/check?url=${web.url}&locations=europe,aws&dry_run=1`, { key });
    expect(body.data).toMatchObject({ locations: [{ region: "eu-west" }, { region: "us-east" }] });
    expect(web.requests).toHaveLength(seen);
  });

  it("that are unknown are 400, and more probes than the plan allows 403", async () => {
    const unknown = await plane.call(`/api/v4/check?url=${web.url}&locations=atlantis`, { key });
    expect(unknown.status).toBe(400);
    expect(unknown.body.error).toMatchObject({
      code: "missing_parameter",
      field: "locations",
      reason: "unknown_location",
      message: 'locations: no probe matches "atlantis". Known locations: eu-west, us-east, IE, US, dublin.',
    });
    const near = await plane.call(`/api/v4/check?url=${web.url}&locations=europe%2Bdubln:2`, { key });
    expect(near.body.error).toMatchObject({
      message: expect.stringContaining('no probe matches "europe+dubln:2". Did you mean dublin?') as string,
    });
    const small = await plane.createKey("free");
    const many = await plane.call(`/api/v4/check?url=${web.url}&locations=eu-west,us-east`, { key: small });
    expect([many.status, many.body.error]).toMatchObject([403, { code: "plan_limit_exceeded", field: "locations" }]);
    const one = await plane.call(`/api/v4/check?url=${web.url}&locations=eu-west`, { key: small });
    expect(one.status).toBe(200);
  });

  it("can be an array in JSON, and one that fails does not change the others' answers", async () => {
    const refusedThere = { url: "http://10.9.9.9/", locations: ["eu-west", "us-east"] };
    const refused = await plane.call("/api/v4/check", { key, body: refusedThere });
    expect([refused.status, refused.body.error]).toMatchObject([400, { code: "target_not_allowed" }]);
    const body = { url: `${web.url}/reset-early`, locations: ["europe", "!aws"] };
    const answer = await plane.call("/api/v4/check", { key, body });
    expect([answer.status, answer.body.data]).toMatchObject([
      200,
      {
        summary: { total: 1, ok: 0, failed: 1, consistent: null },
        locations: [{ status: "failed", error: { code: "request_failed", stage: "response", source: "target" } }],
      },
    ]);
  });

  it("of a call without any are reported", async () => {
    const { body } = await plane.call(`/api/v4/check?url=${web.url}`, { key });
    expect(body.meta).toMatchObject({ location: { region: expect.stringMatching(/^(eu-west|us-east)$/) } });
  });
});

describe("an event stream", () => {
  it("sends each reply as it arrives and ends with the whole envelope", async () => {
    const response = await fetch(`${plane.url}/api/v4/ping?host=127.0.0.1&count=3&locations=all`, {
      headers: { "x-api-key": key, accept: "text/event-stream" },
    });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(response.headers.get("x-ratelimit-limit")).toBe(String(WIDE_LIMITS.requestsPerMinute));
    const events = Array.from((await response.text()).matchAll(/^event: (\w+)\ndata: (.+)$/gm), ([, event, data]) => ({
      event,
      data: JSON.parse(data ?? "") as Record<string, never>,
    }));
    const named = (name: string) => events.filter(({ event }) => event === name);
    expect(named("probe")).toHaveLength(2);
    expect(named("progress")).toHaveLength(6);
    expect(named("progress")[0]?.data).toMatchObject({ attempt: 1, kind: "reply", data: { status: "ok" } });
    expect(named("result")).toHaveLength(2);
    expect(events.at(-1)).toMatchObject({ event: "done", data: { data: { summary: { ok: 2 } }, meta: {} } });
  });

  it("is an ordinary error answer if nothing can start", async () => {
    const response = await fetch(`${plane.url}/api/v4/ping?host=10.0.0.1`, {
      headers: { "x-api-key": key, accept: "text/event-stream" },
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "target_not_allowed" } });
  });
});
