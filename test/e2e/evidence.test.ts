import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type Sql } from "#control-plane/database/connect.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";

/** For calls that count against a key. */
const SETTLES = { interval: 250 };

/** Evidence as the API shows it. */
interface ShownEvidence {
  readonly gathered_at: string;
  readonly gathered_for_incident: number;
  readonly failing: { readonly location: string; readonly check: { readonly verdict: string } } | null;
  readonly changed: readonly { readonly field: string; readonly before: string; readonly after: string }[];
  readonly pings: readonly { readonly kind: string; readonly body: string | null }[] | null;
  readonly summary: readonly string[];
}

let plane: TestControlPlane;
let agent: AgentProcess;
let sql: Sql;
let key: string;
let site: Server;
let host: string;
let status = 200;
const seen: string[] = [];

beforeAll(async () => {
  plane = await startControlPlane();
  key = await plane.createKey("captain");
  agent = await startAgent(plane, "eu-west");
  sql = connect(plane.databaseUrl, { name: "test", connections: 2, statementTimeoutMs: 30_000 });
  site = createServer((request, response) => {
    seen.push(request.headers["x-token"] as string);
    response.writeHead(status).end("Welcome");
  }).listen(0, "127.0.0.1");
  await once(site, "listening");
  host = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
});

afterAll(async () => {
  await agent?.stop();
  site?.close();
  await sql?.end();
  await plane?.stop();
});

async function read<T>(path: string): Promise<T> {
  const { body } = await plane.call(`/api/v4/${path}`, { key });
  return body.data;
}

/** Waits for the evidence of the newest incident of a monitor. */
async function evidenceOf(id: number): Promise<{ readonly incident: Incident; readonly evidence: ShownEvidence }> {
  const find = async () => {
    const [newest] = await read<readonly { id: number }[]>(`incidents?monitor_id=${id}`);
    return newest === undefined ? null : await read<Incident>(`incidents?id=${newest.id}`);
  };
  await expect.poll(async () => (await find())?.evidence ?? null, SETTLES).not.toBeNull();
  const incident = await find();
  if (incident?.evidence == null) throw new Error("no evidence");
  return { incident, evidence: incident.evidence };
}

interface Incident {
  readonly id: number;
  readonly confirmed_at: string;
  readonly evidence: ShownEvidence | null;
  readonly timeline: readonly { readonly kind: string; readonly text: string }[];
}

describe("the evidence of an outage", () => {
  it("says what has changed since the last good check, with the monitor's own request headers and without showing them", async () => {
    const codes = { expected_codes: ["200-299"] };
    const body = { url: host, name: "Shop", interval_minutes: 60, locations: ["eu-west"], retries: 0, ...codes };
    const made = await plane.call("/api/v4/monitors", {
      key,
      body: { ...body, request_headers: { "X-Token": "hunter2" } },
    });
    const { id } = made.body.data as { id: number };
    await expect.poll(async () => (await read<{ status: string }>(`monitors?id=${id}`)).status, SETTLES).toBe("up");
    const stored = () =>
      sql<{ n: number }[]>`select count(*)::integer as n from monitor_baselines where monitor_id = ${id}`;
    await expect.poll(async () => (await stored())[0]?.n, SETTLES).toBe(1);
    // A second good check, which is not reported in full.
    const newestGood = async () => {
      const [row] = await sql<{ n: number; at: Date }[]>`
        select count(*)::integer as n, max(checked_at) as at from checks where monitor_id = ${id} and status = 1`;
      return row;
    };
    status = 204;
    await plane.call(`/api/v4/monitors?action=run&id=${id}`, { key, method: "POST" });
    await expect.poll(async () => (await newestGood())?.n, SETTLES).toBe(2);
    const last = await newestGood();
    await sql`update monitors set runs_requested_at = '{}' where id = ${id}`;
    status = 500;
    await plane.call(`/api/v4/monitors?action=run&id=${id}`, { key, method: "POST" });
    const { incident, evidence } = await evidenceOf(id);
    expect(evidence.gathered_for_incident).toBe(incident.id);
    expect(Date.parse(evidence.gathered_at) - Date.parse(incident.confirmed_at)).toBeLessThan(15_000);
    expect(evidence.failing).toMatchObject({
      location: "eu-west",
      check: { verdict: "down", http_status: 500, result: { code: 500 } },
    });
    expect(evidence).toMatchObject({ healthy: null, dns: null, certificate: null, pings: null, truncated: false });
    const last_good_at = last?.at.toISOString();
    // On a busy machine it can be slow too.
    expect(evidence.changed[0]).toEqual({ field: "status", before: "204", after: "500", last_good_at });
    expect(evidence.summary).toHaveLength(3);
    expect(evidence.summary[1]).toMatch(/^Changed since the good check at .*: status 204 -> 500(?:;|$)/);
    expect(evidence.summary[2]).toMatch(/^Fails from everywhere that was checked: eu-west/);
    expect(new Set(seen)).toEqual(new Set(["hunter2"]));
    expect(JSON.stringify(evidence)).not.toContain("hunter2");
    expect(incident.timeline.filter(({ kind }) => kind === "evidence")).toHaveLength(1);
  });

  it("is that of the first outage for a second one of the same host a moment later", async () => {
    const url = `${host}/other`;
    status = 200;
    const made = await plane.call("/api/v4/monitors", {
      key,
      body: { url, interval_minutes: 1, locations: ["eu-west"], retries: 0 },
    });
    const { id } = made.body.data as { id: number };
    const again = await plane.call("/api/v4/monitors", {
      key,
      body: { url: `${host}/third`, interval_minutes: 1, locations: ["eu-west"], retries: 0 },
    });
    const { id: third } = again.body.data as { id: number };
    for (const one of [id, third]) {
      await expect.poll(async () => (await read<{ status: string }>(`monitors?id=${one}`)).status, SETTLES).toBe("up");
    }
    status = 503;
    for (const one of [id, third]) await plane.call(`/api/v4/monitors?action=run&id=${one}`, { key, method: "POST" });
    const found = [await evidenceOf(id), await evidenceOf(third)];
    const [one, other] = found.map(({ evidence }) => evidence.gathered_for_incident);
    expect(one).toBe(other);
    const shared = found.find(({ incident, evidence }) => evidence.gathered_for_incident !== incident.id);
    expect(shared?.evidence.summary[2]).toMatch(
      new RegExp(`^Evidence of incident ${one}, confirmed .* with the same cause\\. Fails from `),
    );
    const texts = found.flatMap(({ incident }) => incident.timeline.filter(({ kind }) => kind === "evidence"));
    expect(texts.filter(({ text }) => text.includes(`that of incident ${one}`)).length).toBeGreaterThanOrEqual(1);
  });

  it("of a heartbeat is its newest pings, without any traffic", async () => {
    const made = await plane.call("/api/v4/monitors", { key, body: { name: "Backup", check_type: "heartbeat" } });
    const { id, heartbeat_url: url } = made.body.data as { id: number; heartbeat_url: string };
    const path = new URL(url).pathname;
    await plane.call(path);
    await plane.call(`${path}/fail`, { method: "POST", body: "disk full" });
    const { evidence } = await evidenceOf(id);
    expect(evidence.failing).toBeNull();
    expect(evidence.pings?.map(({ kind }) => kind)).toEqual(["fail", "success"]);
    expect(evidence.pings?.[0]?.body).toContain("disk full");
    expect(evidence.summary[2]).toMatch(/^Last success: /);
  });
});
