import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, describe, expect, it } from "vitest";
import { connect } from "#control-plane/core/database/connect.ts";
import { useAgent } from "#test/support/agent-process.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { createMonitor } from "#test/support/create-monitor.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

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

let status = 200;
const seen: string[] = [];

const plane = await stopAfterAll(startControlPlane());
const key = await plane.createKey("captain");
useAgent(plane, "eu-west");
const sql = await stopAfterAll(
  connect(plane.databaseUrl, { name: "test", connections: 2, statementTimeoutMs: 30_000 }),
);
const site = createServer((request, response) => {
  seen.push(request.headers["x-token"] as string);
  response.writeHead(status).end("Welcome");
}).listen(0, "127.0.0.1");
await once(site, "listening");
const host = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;

afterAll(async () => {
  site.close();
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
  readonly evidence_reason: string | null;
  readonly timeline: readonly { readonly kind: string; readonly text: string }[];
}

describe("the evidence of an outage", () => {
  it("says what has changed since the last good check, with the monitor's own request headers and without showing them", async () => {
    const codes = { expected_codes: ["200-299"] };
    const body = { url: host, name: "Shop", interval_minutes: 60, locations: ["eu-west"], retries: 0, ...codes };
    const { id } = await createMonitor(plane, key, { ...body, request_headers: { "X-Token": "hunter2" } });
    await expect.poll(async () => (await read<{ status: string }>(`monitors?id=${id}`)).status, SETTLES).toBe("up");
    const stored = () =>
      sql<{ n: number }[]>`select count(*)::integer as n from monitor_baselines where monitor_id = ${id}`;
    await expect.poll(async () => (await stored())[0]?.n, SETTLES).toBe(1);
    // A second good check, which is not reported in full.
    const good = async () =>
      (await read<{ checks: { status: string; checked_at: string }[] }>(`monitors?id=${id}`)).checks.filter(
        (check) => check.status === "up",
      );
    status = 204;
    await plane.call(`/api/v4/monitors?action=run&id=${id}`, { key, method: "POST" });
    await expect.poll(async () => (await good()).length, SETTLES).toBe(2);
    const [last] = await good();
    await sql`update monitors set runs_requested_at = '{}' where id = ${id}`;
    status = 500;
    await plane.call(`/api/v4/monitors?action=run&id=${id}`, { key, method: "POST" });
    const { incident, evidence } = await evidenceOf(id);
    expect(evidence.gathered_for_incident).toBe(incident.id);
    expect(Date.parse(evidence.gathered_at)).toBeGreaterThanOrEqual(Date.parse(incident.confirmed_at));
    expect(evidence.failing).toMatchObject({
      location: "eu-west",
      check: { verdict: "down", http_status: 500, result: { code: 500 } },
    });
    expect(evidence).toMatchObject({ healthy: null, dns: null, certificate: null, pings: null, truncated: false });
    const last_good_at = last?.checked_at;
    // On a busy machine it can be slow too.
    expect(evidence.changed[0]).toEqual({ field: "status", before: "204", after: "500", last_good_at });
    expect(evidence.summary).toHaveLength(3);
    expect(evidence.summary[1]).toMatch(/^Changed since the good check at .*: status 204 -> 500(?:;|$)/);
    expect(evidence.summary[2]).toMatch(/^Fails from everywhere that was checked: eu-west/);
    expect(new Set(seen)).toEqual(new Set(["hunter2"]));
    expect(JSON.stringify(evidence)).not.toContain("hunter2");
    expect(incident.timeline.filter(({ kind }) => kind === "evidence")).toHaveLength(1);
  });

  /** Makes monitors of these URLs, waits until they are up, and lets all of them fail at once with this status. */
  async function breakAll(urls: readonly string[], code: number): Promise<readonly number[]> {
    status = 200;
    const ids: number[] = [];
    for (const url of urls) {
      const body = { url, interval_minutes: 1, locations: ["eu-west"], retries: 0 };
      const { id } = await createMonitor(plane, key, body);
      await expect.poll(async () => (await read<{ status: string }>(`monitors?id=${id}`)).status, SETTLES).toBe("up");
      ids.push(id);
    }
    status = code;
    for (const id of ids) await plane.call(`/api/v4/monitors?action=run&id=${id}`, { key, method: "POST" });
    return ids;
  }

  it("is that of the first outage for a second one of the same target a moment later, but for what has changed", async () => {
    const [id = 0, second = 0] = await breakAll([`${host}/other`, `${host}/other`], 503);
    const found = [await evidenceOf(id), await evidenceOf(second)];
    const [one, other] = found.map(({ evidence }) => evidence.gathered_for_incident);
    expect(one).toBe(other);
    const shared = found.find(({ incident, evidence }) => evidence.gathered_for_incident !== incident.id);
    expect(shared?.evidence.changed).toEqual([]);
    expect(shared?.evidence.summary[1]).toMatch(/^Nothing was compared with earlier checks of this monitor/);
    expect(shared?.evidence.summary[2]).toMatch(
      new RegExp(`^Evidence of incident ${one}, confirmed .* with the same target and cause\\. Fails from `),
    );
    const texts = found.flatMap(({ incident }) => incident.timeline.filter(({ kind }) => kind === "evidence"));
    expect(texts.filter(({ text }) => text.includes(`that of incident ${one}`)).length).toBeGreaterThanOrEqual(1);
  });

  it("is never that of another target at the same host; past the limit there is none, with the reason", async () => {
    const paths = ["a", "b", "c", "d", "e"];
    // Other accounts have limits of their own; a host has three gatherings in a minute.
    await sql`update incident_evidence set confirmed_at = confirmed_at - interval '2 minutes'`;
    const ids = await breakAll(
      paths.map((path) => `${host}/${path}`),
      404,
    );
    const incidentOf = async (id: number): Promise<Incident | null> => {
      const [newest] = await read<readonly { id: number }[]>(`incidents?monitor_id=${id}`);
      return newest === undefined ? null : read<Incident>(`incidents?id=${newest.id}`);
    };
    const settled = async (): Promise<readonly Incident[]> => {
      const all = await Promise.all(ids.map(incidentOf));
      return all.filter((one) => one !== null && (one.evidence !== null || one.evidence_reason !== null)) as Incident[];
    };
    await expect.poll(async () => (await settled()).length, SETTLES).toBe(paths.length);
    const incidents = await settled();
    const [examined, others] = [0, 1].map((kind) =>
      incidents.filter((one) => (one.evidence === null ? 1 : 0) === kind),
    );
    expect(others?.map(({ evidence_reason: reason }) => reason)).toEqual(["target_busy", "target_busy"]);
    for (const { id, evidence, evidence_reason: reason } of examined ?? []) {
      expect([evidence?.gathered_for_incident, reason]).toEqual([id, null]);
      expect(evidence?.summary[1]).toMatch(/: status 200 -> 404(?:;|$)/);
    }
  });

  it("names the last good check, and that with which was compared what is reported once an hour only", async () => {
    status = 200;
    const body = { url: `${host}/hourly`, interval_minutes: 60, locations: ["eu-west"], retries: 0 };
    const { id } = await createMonitor(plane, key, body);
    const stored = () => sql`select from monitor_baselines where monitor_id = ${id}`;
    await expect.poll(async () => (await stored()).length, SETTLES).toBe(1);
    const [times] = await sql<{ old: Date; good: Date }[]>`
      with aged as (
        update monitor_baselines set good_at = good_at - interval '90 minutes',
          facts = (facts::jsonb || '{"addresses": ["192.0.2.9"], "address": "192.0.2.9"}')::text
        where monitor_id = ${id} returning good_at
      )
      select aged.good_at as old, s.good_at as good from aged, monitor_slots as s where s.monitor_id = ${id}`;
    await sql`update incident_evidence set confirmed_at = confirmed_at - interval '2 minutes'`;
    status = 502;
    await plane.call(`/api/v4/monitors?action=run&id=${id}`, { key, method: "POST" });
    const { evidence } = await evidenceOf(id);
    const minute = (at: Date | undefined) => at?.toISOString().slice(0, 16).replace("T", " ") ?? "";
    // The day can change within the 90 minutes: then the older time has its date.
    const [, older = ""] = minute(times?.old).split(" ");
    expect(evidence.summary[1]).toMatch(
      new RegExp(
        `^Changed since the good check at ${minute(times?.good)} UTC: addresses 192\\.0\\.2\\.9 -> 127\\.0\\.0\\.1 ` +
          `\\(compared with the check at (?:[\\d-]+ )?${older}\\); status 200 -> 502`,
      ),
    );
  });

  it("of a heartbeat is its newest pings, without any traffic", async () => {
    const { id, heartbeat_url: url } = await createMonitor(plane, key, { name: "Backup", check_type: "heartbeat" });
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
