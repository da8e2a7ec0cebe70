import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseLocations } from "#shared/internet/locations.ts";
import type { MonitorResult } from "#shared/monitor-checks/define.ts";
import type { LocationRow } from "#control-plane/checks/answer.ts";
import { createResultCache } from "#control-plane/checks/cache.ts";
import { runCheck } from "#control-plane/checks/run-check.ts";
import type { ProbedType } from "#control-plane/outages/kinds/kinds.ts";
import { DEFAULT_SETTINGS } from "#control-plane/outages/kinds/defaults.ts";
import type { MonitorSettings } from "#control-plane/outages/kinds/monitor.ts";
import { monitorCall } from "#control-plane/watching/checking/watch/monitor-call.ts";
import { startLocalHub, type LocalHub } from "#test/control-plane/checks/dispatch/local-hub.ts";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { attachAgent } from "#test/support/attached-agent.ts";
import { listenForAgents, type HubListener } from "#test/support/agent-listener.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { systemClock } from "#test/support/clock.ts";
import { freePort } from "#test/support/free-port.ts";
import { helloOf } from "#test/support/scripted-agent.ts";

let local: LocalHub;
let server: HubListener;
let agents: AgentProcess[];
let web: HttpServer;
let dns: DnsServer;

beforeAll(async () => {
  web = await startHttpServer();
  dns = await startDnsServer({
    zones: {
      ".": { NS: ["a.root-servers.test."] },
      "www.example.net": { A: ["127.0.0.1"], MX: ["10 mail.example.net."] },
    },
  });
  local = startLocalHub();
  server = await listenForAgents(local.hub, pino({ level: "silent" }));
  agents = await Promise.all([
    startAgent(server, "well", { VANTAGE_DNS_SERVERS: dns.address }),
    startAgent(server, "cut-off", { VANTAGE_DNS_SERVERS: `127.0.0.1:${await freePort()}` }),
  ]);
});

afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.stop()));
  await server.listener.stop();
  local.hub.stop();
  await Promise.all([web.close(), dns.close()]);
});

const SETTINGS: MonitorSettings = { ...DEFAULT_SETTINGS, timeout_seconds: 5, locations: ["well"] };

/** Runs the check of a monitor at one location, as the watch of monitors does. */
async function observe(
  checkType: ProbedType,
  url: string,
  settings: Partial<MonitorSettings> = {},
  location = "well",
): Promise<LocationRow | undefined> {
  const items = parseLocations(location);
  if (!items.ok) throw new Error(items.message);
  const monitor = { url, checkType, settings: { ...SETTINGS, ...settings } };
  const { contract, params } = monitorCall(monitor, { request_headers: {}, body: null }, "up", false);
  const answer = await runCheck(
    { hub: local.hub, clock: systemClock, results: createResultCache(systemClock) },
    { contract, params, accountId: 1, locations: items.items, maxLocations: 1, pace: "paced" },
  );
  if (answer.kind !== "multi") throw new Error(JSON.stringify(answer));
  return answer.data.locations[0];
}

async function resultOf(...given: Parameters<typeof observe>): Promise<MonitorResult> {
  const row = await observe(...given);
  if (row?.status !== "ok") throw new Error(JSON.stringify(row));
  return row.data as MonitorResult;
}

describe("the check of a monitor, through the hub and an agent", () => {
  it("reports a verdict for each check type", async () => {
    expect(await resultOf("http", `${web.url}/`)).toMatchObject({ verdict: "up", http_status: 200, whole: null });
    expect(await resultOf("keyword", `${web.url}/`, { keyword: "Hello" })).toMatchObject({ verdict: "up" });
    const mx = { type: "MX", op: "contains", values: ["10 mail.example.net"], dnssec: "not_bogus" } as const;
    expect(await resultOf("dns", "www.example.net", { dns: mx })).toMatchObject({ verdict: "up", http_status: null });
    expect(await resultOf("ping", "127.0.0.1")).toMatchObject({ verdict: "up" });
    expect(await resultOf("port", "127.0.0.1", { port: web.port })).toMatchObject({ verdict: "up" });
  });

  it("reports a fault, with the whole result because the verdict changed", async () => {
    const result = await resultOf("http", `${web.url}/status/503`);
    expect(result).toMatchObject({
      verdict: "down",
      fault: { stage: "response", reason: "unexpected_status", message: "expected 200, got 503" },
      whole: { code: 503 },
    });
  });

  it("fails for a target without an answer", async () => {
    expect(await observe("http", `http://127.0.0.1:${await freePort()}/`)).toMatchObject({
      status: "failed",
      error: { code: "request_failed", stage: "connect", source: "target", reason: "refused" },
    });
    expect(await observe("http", `${web.url}/silent`, { timeout_seconds: 1 })).toMatchObject({
      error: { stage: "response", source: "target", reason: "timeout" },
    });
  });

  it("blames the probe if its own network is gone", async () => {
    for (const [type, target] of [
      ["http", "http://www.example.net/"],
      ["dns", "www.example.net"],
      ["ping", "www.example.net"],
    ] as const) {
      expect(await observe(type, target, { timeout_seconds: 1 }, "cut-off"), type).toMatchObject({
        status: "failed",
        error: { source: "probe", stage: "dns" },
      });
    }
  });

  it("is refused if a redirect leads to a refused address", async () => {
    expect(await observe("http", `${web.url}/to?url=http://10.0.0.1/`)).toMatchObject({
      status: "failed",
      error: { code: "target_not_allowed" },
    });
  });

  it("goes to another agent if one of an older release does not know it", async () => {
    const old = attachAgent(local.hub, helloOf("well", { agentId: "agent-old" }), {});
    const declined = new Set<unknown>();
    const timer = setInterval(() => {
      for (const job of old.jobs) {
        if (!declined.has(job.jobId)) old.decline(job, "incapable");
        declined.add(job.jobId);
      }
    }, 5);
    try {
      for (let round = 0; round < 8; round += 1) {
        expect(await resultOf("http", `${web.url}/`)).toMatchObject({ verdict: "up" });
      }
      expect(declined.size).toBeGreaterThan(0);
    } finally {
      clearInterval(timer);
      old.cut();
    }
  });
});
