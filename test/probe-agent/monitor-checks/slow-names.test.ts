import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Outcome } from "#shared/contracts/outcome.ts";
import type { MonitorResult } from "#shared/monitor-checks/define.ts";
import { loadImplementation } from "#probe-agent/implementations.ts";
import { runJob } from "#probe-agent/run-job.ts";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { createPki } from "#test/servers/pki.ts";
import { startTlsServer, type TlsServer } from "#test/servers/tls.ts";
import { systemClock } from "#test/support/clock.ts";
import { jobLimits } from "#test/support/net.ts";
import { netFactory } from "#test/support/tool.ts";

const HOST = "shop.example";
const pki = await createPki();
let names: DnsServer;
let web: HttpServer;
let secure: TlsServer;

beforeAll(async () => {
  const zones = { [HOST]: { A: ["127.0.0.1"], AAAA: [] } };
  // Longer than the limit of a tool's look-up.
  names = await startDnsServer({ zones, behaviours: { "*": { delayMs: 5_300 } } });
  web = await startHttpServer();
  secure = await startTlsServer({ chain: [await pki.issue({ dns: [HOST] }), pki.intermediate] });
});
afterAll(() => Promise.all([names.close(), web.close(), secure.close()]));

/** Runs a job with the agent's real network, within 8 s. */
async function run(tool: string, given: object): Promise<Outcome<MonitorResult>> {
  const params = JSON.stringify(given);
  const createNet = netFactory({ dnsServers: [names.address], roots: [pki.root.pem] });
  // The time to load it is not that of a test.
  await loadImplementation(tool);
  const limits = jobLimits(8_000);
  const tools = {
    reservedMs: 0,
    receivedAt: limits.deadline - 8_000,
    createNet,
    correctSource: <T>(failure: T) => Promise.resolve(failure),
    loop: { start: () => () => 0 },
    clock: systemClock,
    log: pino({ level: "silent" }),
  };
  const end = await runJob({ tool, params, input: "" }, limits, tools, () => {});
  return JSON.parse(end.outcome) as Outcome<MonitorResult>;
}

it("a monitor is up behind a resolver that answers within its time, which tools do not wait for", async () => {
  const common = { timeout_seconds: 8, known: "up", always_whole: false };
  const http = { method: "GET", follow: true, headers: [], body: null, expected: [[200, 200]], keyword: null };
  const webPort = Number(new URL(web.url).port);
  const url = `http://${HOST}:${webPort}/`;
  const [tool, ...checks] = await Promise.all([
    run("check", { url }),
    run("monitor-http", { ...common, ...http, url, keyword_mode: "present", json: null }),
    run("monitor-port", { ...common, host: HOST, port: webPort }),
    run("monitor-ping", { ...common, host: HOST }),
    run("monitor-ssl", { ...common, host: HOST, port: secure.port }),
    run("monitor-dns", { ...common, domain: HOST, type: "A", op: "any", values: [], dnssec: "not_bogus" }),
  ]);
  expect(checks).toEqual(checks.map(() => ({ status: "ok", data: expect.objectContaining({ verdict: "up" }) })));
  expect(tool).toMatchObject({ status: "failed", stage: "dns", source: "resolver", reason: "timeout" });
});
