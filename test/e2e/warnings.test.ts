import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { examine } from "#shared/client/doctor/examine.ts";
import { ADMIN_TOKEN } from "#test/support/control-plane.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { startControlPlaneProcess, type ControlPlaneProcess } from "#test/support/control-plane-process.ts";
import { freePort } from "#test/support/free-port.ts";
import { createTestDatabase, type TestDatabase } from "#test/support/postgres.ts";
import { createMonitor } from "#test/support/create-monitor.ts";

interface Warning {
  readonly code: string;
  readonly message: string;
  readonly since: string;
  readonly monitor_ids: readonly number[];
  readonly monitor_count: number;
}

/** A warning begins 30 s after its cause, which is looked for every 10 s. */
const SOON = { interval: 500 };

let database: TestDatabase;
let planes: readonly ControlPlaneProcess[];
let agents: AgentProcess[];
let metricsUrl = "";
let key = "";

beforeAll(async () => {
  database = await createTestDatabase();
  const metrics = `127.0.0.1:${await freePort()}`;
  metricsUrl = `http://${metrics}/metrics`;
  const first = await startControlPlaneProcess(database.url, { settings: { VANTAGE_METRICS_ADDR: metrics } });
  planes = [first, await startControlPlaneProcess(database.url)];
  key = await first.createKey();
  agents = await Promise.all(["eu-west", "us-east"].map((region) => startAgent(first, region)));
});

afterAll(async () => {
  await Promise.all(agents?.map((agent) => agent.stop()) ?? []);
  await Promise.all(planes?.map((plane) => plane.end("SIGTERM")) ?? []);
  await database?.drop();
});

const plane = (): ControlPlaneProcess => {
  const [first] = planes;
  if (first === undefined) throw new Error("no control plane was started");
  return first;
};

async function warningsOf(replica: ControlPlaneProcess): Promise<readonly Warning[]> {
  const { status, body } = await replica.operate("GET", "/api/admin/warnings");
  expect(status).toBe(200);
  return body.data;
}

const codes = async (replica: ControlPlaneProcess) => (await warningsOf(replica)).map(({ code }) => code);

async function create(locations: readonly string[], more: object = {}): Promise<number> {
  const body = { url: `${plane().url}/healthz`, check_type: "http", interval_minutes: 1, locations, ...more };
  return (await createMonitor(plane(), key, body)).id;
}

/** Lines of all replicas about warnings, as level and code. */
function logged(): readonly string[] {
  return planes
    .flatMap((replica) => replica.log().split("\n"))
    .filter((line) => line.includes('"msg":"warning'))
    .map((line) => {
      const { level, code, msg } = JSON.parse(line) as { level: string | number; code: string; msg: string };
      expect(String(level)).toMatch(msg.startsWith("warning ended") ? /^(info|30)$/ : /^(warn|40)$/);
      return `${code}${msg.startsWith("warning ended") ? " ended" : ""}`;
    });
}

describe("GET /api/admin/warnings", () => {
  it("needs the operator's token", async () => {
    expect((await plane().call("/api/admin/warnings", { key })).status).toBe(401);
    expect((await plane().call("/api/admin/warnings")).status).toBe(401);
  });

  it("lists a cause once on all replicas, from its beginning to its end, and each log line appears once", async () => {
    const ids = [await create(["eu-west", "us-east"]), await create(["us-east"]), await create(["eu-west"])];
    const mailed = await create(["eu-west"], { notify_email: true, notify_emails: ["ops@example.com"] });
    await expect.poll(() => codes(plane()), SOON).toEqual(["mail_not_configured"]);
    expect((await warningsOf(plane()))[0]).toMatchObject({ monitor_ids: [mailed], monitor_count: 1 });
    await plane().call(`/api/v4/monitors?id=${mailed}`, { key, method: "DELETE" });
    await expect.poll(() => codes(plane()), SOON).toEqual([]);

    // Agents that start slowly can have been reported, too.
    const earlier = logged().filter((line) => line.startsWith("no_agents")).length;
    for (const agent of agents) agent.kill("SIGKILL");
    await expect.poll(() => codes(plane()), SOON).toEqual(["no_agents"]);
    const [warning] = await warningsOf(plane());
    expect(warning).toMatchObject({ monitor_ids: ids, monitor_count: 3 });
    expect(warning?.message).toContain("No probe agent is connected.");
    for (const replica of planes) expect(await warningsOf(replica)).toEqual([warning]);
    const environment = { VANTAGE_HTTP_ADDR: new URL(plane().url).host, VANTAGE_ADMIN_TOKEN: ADMIN_TOKEN };
    const findings = await examine({ environment, directory: "/", now: () => new Date(), report: () => {} });
    expect(findings.filter(({ subject }) => subject === "service")).toMatchObject([
      { level: "warn", message: expect.stringMatching(/^no_agents: No probe agent is connected\./) },
    ]);
    const scrape = async () => (await fetch(metricsUrl)).text();
    expect(await scrape()).toContain('vantage_warning{code="no_agents"} 1');

    agents.push(...(await Promise.all(["eu-west", "us-east"].map((region) => startAgent(plane(), region)))));
    await expect.poll(() => codes(plane()), SOON).toEqual([]);
    expect(await scrape()).toContain('vantage_warning{code="no_agents"} 0');
    // A line of the log arrives up to 100 ms after the change in the database.
    const linesOf = (code: string) =>
      logged()
        .filter((line) => line.startsWith(code))
        .toSorted();
    await expect
      .poll(() => linesOf("mail_not_configured"))
      .toEqual(["mail_not_configured", "mail_not_configured ended"]);
    await expect.poll(() => linesOf("no_agents").length - earlier).toBe(2);
    expect(logged().filter((line) => !/^(no_agents|mail_not_configured)/.test(line))).toEqual([]);
  });
});
