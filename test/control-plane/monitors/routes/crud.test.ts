import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BUILT_IN_PLANS, type Plans } from "#control-plane/plans/plans.ts";
import { startMonitorService, type MonitorService } from "#test/support/monitor-service.ts";

const URL = "/api/v4/monitors";
const FAST = { requestsPerMinute: 1_000_000, requestsPerDay: 1_000_000 };

let service: MonitorService;
let key: string;

beforeAll(async () => {
  const plans: Plans = { ...BUILT_IN_PLANS, captain: { ...BUILT_IN_PLANS.captain, ...FAST } };
  service = await startMonitorService({ plans });
  service.attach("eu-west", { location: { region: "eu-west", city: "Berlin", country: "DE", asn: 1, tags: [] } });
  service.attach("us-east", { location: { region: "us-east", city: "", country: "US", asn: 2, tags: [] } });
  key = await service.createKey();
});
afterAll(() => service?.stop());

const BODY = { url: "https://example.com/health", locations: ["eu-west"] };

interface Monitor {
  readonly id: number;
  readonly [field: string]: unknown;
}

async function create(body: object = BODY, withKey = key): Promise<Monitor> {
  const { status, body: answered, text } = await service.call(URL, { key: withKey, body });
  if (status !== 201) throw new Error(text);
  return answered.data;
}

const read = async (id: number, withKey = key): Promise<Monitor> =>
  (await service.call(`${URL}?id=${id}`, { key: withKey })).body.data;
const change = (id: number, body: object, withKey = key) =>
  service.call(`${URL}?id=${id}`, { method: "PUT", key: withKey, body });
const remove = (id: number, withKey = key) => service.call(`${URL}?id=${id}`, { method: "DELETE", key: withKey });
const slotsOf = (id: number) => service.app.sql`
  select location, interval_seconds as interval, timeout_seconds as seconds from monitor_slots
  where monitor_id = ${id} order by location`;

describe("a monitor", () => {
  it("is created with defaults, its state and its planned checks, and is read as it was answered", async () => {
    const { status, body } = await service.call(URL, { key, body: { url: "example.org" } });
    expect(status).toBe(201);
    const { id, ...fields } = body.data as Monitor;
    expect(fields).toEqual({
      name: "example.org",
      url: "example.org",
      check_type: "http",
      interval_minutes: 5,
      expected_code: 200,
      notify_email: false,
      is_active: true,
      paused_reason: null,
      status: "unknown",
      method: "GET",
      follow: true,
      timeout_seconds: 15,
      expected_codes: null,
      keyword: null,
      keyword_mode: "present",
      json: null,
      dns: null,
      port: null,
      locations: ["eu-west", "us-east"],
      quorum: "majority",
      retries: 2,
      recovery: 1,
      degraded_ms: null,
      watch_domain: false,
      notify_emails: [],
      notify_advisories: false,
      repeat_minutes: null,
      request_headers: {},
      body: null,
      tags: [],
      depends_on: null,
      notify_state: "off",
      ssl_days: null,
      certificate: null,
      certificate_error: null,
      domain: null,
      domain_error: null,
      heartbeat: null,
      heartbeat_url: null,
      visual: null,
      degraded: false,
      flapping: false,
      advisory: null,
      last_checked_at: null,
      next_check_at: null,
      schedule_lag_ms: null,
      last_change_at: null,
      last_error: null,
      uptime: { d1: null, d7: null, d30: null, d90: null },
      response_ms: { p50: null, p95: null, p99: null },
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect(await slotsOf(id)).toEqual([
      { location: "eu-west", interval: 300, seconds: 15 },
      { location: "us-east", interval: 300, seconds: 15 },
    ]);
    expect(await read(id)).toEqual({ id, ...fields, checks: [] });
  });

  it("has its newest checks and what is known about it", async () => {
    const { id } = await create();
    const at = new Date("2026-01-01T00:00:00Z");
    const fault = { stage: "connect", source: "target", reason: "refused", message: "connection refused" } as const;
    service.ports.facts.set(id, {
      status: "down",
      isFlapping: true,
      lastCheckedAt: at,
      nextCheckAt: at,
      scheduleLagMs: 3,
      lastChangeAt: at,
      lastError: fault,
      advisory: { since: at, locations: ["eu-west"], message: "eu-west fails" },
    });
    const uptime = { d1: 99.5, d7: null, d30: null, d90: null };
    service.ports.statistics.set(id, { uptime, responseMs: { p50: 1, p95: 2, p99: 3 } });
    const check = {
      id: 5,
      checked_at: at.toISOString(),
      location: "eu-west",
      status: "down",
      response_time_ms: null,
      http_status_code: null,
      error: { stage: "connect", source: "target", reason: "refused" },
    } as const;
    service.ports.checks.set(id, [check]);
    const known = {
      status: "down",
      flapping: true,
      last_checked_at: at.toISOString(),
      next_check_at: at.toISOString(),
      schedule_lag_ms: 3,
      last_change_at: at.toISOString(),
      last_error: fault,
      advisory: { since: at.toISOString(), locations: ["eu-west"], message: "eu-west fails" },
      uptime,
      response_ms: { p50: 1, p95: 2, p99: 3 },
    };
    expect(await read(id)).toMatchObject({ ...known, checks: [check] });
    expect((await change(id, { name: "x" })).body.data).toMatchObject(known);
    expect((await change(id, { is_active: false })).body.data).toMatchObject({ next_check_at: null });
  });

  it("is changed field by field, and a record sent back as it was read changes nothing", async () => {
    const { id } = await create({ ...BODY, check_type: "keyword", keyword: "x", tags: ["a"] });
    const before = await read(id);
    service.ports.calls.length = 0;
    const same = await change(id, before);
    expect(same.status).toBe(200);
    expect({ ...(same.body.data as object), checks: [] }).toEqual(before);
    expect(service.ports.calls).toEqual([]);
    const changed = await change(id, { name: "Shop", interval_minutes: 10, degraded_ms: 100 });
    const expected = { ...before, name: "Shop", interval_minutes: 10, degraded_ms: 100 };
    expect(await read(id)).toEqual({ ...expected, updated_at: changed.body.data["updated_at"] });
    expect((await change(id, {})).body.data).toEqual(changed.body.data);
  });

  it("is checked at the new times and places after a change", async () => {
    const { id } = await create();
    service.ports.calls.length = 0;
    await change(id, { name: "New", degraded_ms: 5, tags: ["x"] });
    expect(service.ports.calls).toEqual([]);
    await change(id, { locations: ["us-east", "eu-west"], timeout_seconds: 5, interval_minutes: 2 });
    expect(service.ports.calls).toEqual([`change ${id}`]);
    expect(await slotsOf(id)).toEqual([
      { location: "eu-west", interval: 120, seconds: 5 },
      { location: "us-east", interval: 120, seconds: 5 },
    ]);
  });

  it("starts anew with a new target, check type or port", async () => {
    const { id } = await create();
    const changes = [
      { url: "https://example.org" },
      { check_type: "keyword", keyword: "x" },
      { check_type: "port", port: 22, url: "example.org" },
      { port: 23 },
    ];
    for (const body of changes) {
      service.ports.calls.length = 0;
      expect((await change(id, body)).status).toBe(200);
      expect(service.ports.calls).toEqual([`replan ${id}`, `reset ${id} restarted`]);
    }
  });

  it("is paused and resumed: without checks while it is paused, and known from the beginning afterwards", async () => {
    const { id } = await create();
    await service.app.sql`update monitor_states set status = 'up' where monitor_id = ${id}`;
    service.ports.calls.length = 0;
    const paused = await change(id, { is_active: false });
    expect(paused.body.data).toMatchObject({ is_active: false, status: "unknown", paused_reason: null });
    expect(await slotsOf(id)).toEqual([]);
    await change(id, { interval_minutes: 3, url: "https://example.net" });
    expect(await slotsOf(id)).toEqual([]);
    const resumed = await change(id, { is_active: true });
    expect(resumed.body.data).toMatchObject({ is_active: true, status: "unknown" });
    expect(await slotsOf(id)).toEqual([{ location: "eu-west", interval: 180, seconds: 15 }]);
    expect(service.ports.calls).toEqual([
      `remove ${id}`,
      `reset ${id} paused`,
      `reset ${id} paused`,
      `plan ${id}`,
      `reset ${id} restarted`,
    ]);
  });

  it("can be created paused", async () => {
    const { id, is_active: isActive } = await create({ ...BODY, is_active: false });
    expect([isActive, await slotsOf(id)]).toEqual([false, []]);
  });

  it("is deleted with its state, its planned checks and the dependency of others on it", async () => {
    const { id } = await create();
    const child = await create({ ...BODY, depends_on: id });
    service.ports.calls.length = 0;
    const deleted = await remove(id);
    expect([deleted.status, deleted.body.data]).toEqual([200, { id, deleted: true }]);
    expect(service.ports.calls).toEqual([`remove ${id}`, `forget ${id}`]);
    expect((await service.call(`${URL}?id=${id}`, { key })).status).toBe(404);
    expect((await remove(id)).status).toBe(404);
    expect(await service.app.sql`select from monitor_states where monitor_id = ${id}`).toHaveLength(0);
    expect(await read(child.id)).toMatchObject({ depends_on: null });
  });

  it("has the address .php too", async () => {
    const made = await service.call(`${URL}.php`, { key, body: BODY });
    expect(made.status).toBe(201);
    const { id } = made.body.data as Monitor;
    expect((await service.call(`${URL}.php?id=${id}`, { key })).body.data).toMatchObject({ id });
  });
});

describe("the list", () => {
  it("is filtered, newest first, in pages", async () => {
    const own = await service.createKey();
    const host = { url: "example.com", locations: ["eu-west"] };
    const one = await create({ ...BODY, name: "Shop", tags: ["web", "eu"] }, own);
    const two = await create({ ...host, check_type: "ping", name: "Router 50%_" }, own);
    const three = await create({ ...BODY, url: "https://SHOP.example.com", name: "Three", tags: ["web"] }, own);
    await service.app.sql`update monitor_states set status = 'down' where monitor_id = ${two.id}`;
    const ids = async (query: string) => {
      const { body, status } = await service.call(`${URL}?${query}`, { key: own });
      expect(status, query).toBe(200);
      return (body.data as readonly Monitor[]).map(({ id }) => id);
    };
    expect(await ids("")).toEqual([three.id, two.id, one.id]);
    expect(await ids("status=down")).toEqual([two.id]);
    expect(await ids("status=up")).toEqual([]);
    expect(await ids("status=unknown")).toEqual([three.id, one.id]);
    expect(await ids("tag=web")).toEqual([three.id, one.id]);
    expect(await ids("tag=we")).toEqual([]);
    expect(await ids("check_type=ping")).toEqual([two.id]);
    expect(await ids("q=shop")).toEqual([three.id, one.id]);
    expect(await ids("q=50%25_")).toEqual([two.id]);
    expect(await ids("q=%25")).toEqual([two.id]);
    expect(await ids("q=shop&tag=eu&status=unknown&check_type=http")).toEqual([one.id]);
    const page = await service.call(`${URL}?page=2&per_page=2`, { key: own });
    expect(page.body.meta["pagination"]).toEqual({ total: 3, page: 2, per_page: 2, pages: 2 });
    expect((page.body.data as readonly Monitor[]).map(({ id }) => id)).toEqual([one.id]);
  });

  it.each([
    ["status=degraded", "status"],
    ["check_type=smtp", "check_type"],
    ["per_page=101", "per_page"],
    ["page=0", "page"],
    ["q=", "q"],
    ["tag=", "tag"],
    ["id=x", "id"],
    ["id=0", "id"],
    ["action=delete", "action"],
  ])("refuses %s", async (query, field) => {
    const { status, body } = await service.call(`${URL}?${query}`, { key });
    expect([status, body.error]).toMatchObject([400, { code: "missing_parameter", field }]);
  });
});

describe("another account's monitor", () => {
  it("is answered like an absent one, byte for byte but for the request's own facts", async () => {
    const { id } = await create();
    const stranger = await service.createKey();
    const absent = 999_999_999;
    const bytes = async (path: string, options: object) => {
      const { status, text } = await service.call(path, { key: stranger, ...options });
      return [status, text.replace(/"request_id":"[^"]*","duration_ms":\d+/, "")];
    };
    const requests = (target: number): readonly (readonly [string, object])[] => [
      [`${URL}?id=${target}`, {}],
      [`${URL}?id=${target}`, { method: "PUT", body: { name: "x" } }],
      [`${URL}?id=${target}`, { method: "DELETE" }],
      [`${URL}?action=run&id=${target}`, { method: "POST" }],
      [URL, { body: { ...BODY, depends_on: target } }],
    ];
    for (const [index, [path, options]] of requests(id).entries()) {
      const [absentPath, absentOptions] = requests(absent)[index] ?? ["", {}];
      const theirs = await bytes(path, options);
      expect(theirs).toEqual(await bytes(absentPath, absentOptions));
      expect(theirs[0]).toBe(index === 4 ? 400 : 404);
    }
    expect(await read(id)).toMatchObject({ name: "example.com/health" });
    const { body } = await service.call(URL, { key: stranger });
    expect(body.data).toEqual([]);
  });
});
