import { describe, expect, it } from "vitest";
import { transact } from "#control-plane/core/database/transaction.ts";
import { addStatusChanges } from "#control-plane/outages/history/record.ts";
import { encodeState } from "#control-plane/outages/state/encoding.ts";
import { NEW_STATE, type MonitorState } from "#control-plane/outages/state/state.ts";
import { FAULT, openIncident } from "#test/control-plane/monitors/routes/open-incident.ts";
import { ago } from "#test/support/ago.ts";
import { BODY, startMonitorsWorld, URL, type Monitor } from "#test/control-plane/monitors/routes/world.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const HOUR_MS = 3_600_000;

const world = await stopAfterAll(startMonitorsWorld());

const slotsOf = (id: number) => world.app.sql`
  select location, interval_seconds as interval, timeout_seconds as seconds from monitor_slots
  where monitor_id = ${id} order by location`;

/**
 * Schedule entries and state as they are stored, with the transactions that wrote them: a write that changes nothing
 * shows too.
 */
const writtenOf = async (id: number) => {
  const { sql } = world.app;
  return {
    entries: await sql`select xmin::text, * from monitor_slots where monitor_id = ${id} order by location`,
    state: await sql`select xmin::text, * from monitor_states where monitor_id = ${id}`,
  };
};
/** Statuses by their number in the history. */
const WORDS = ["", "up", "down", "unknown"];
const historyOf = async (id: number): Promise<readonly (string | undefined)[]> => {
  const rows = await world.app.sql<{ status: number }[]>`
    select status from monitor_status_changes where monitor_id = ${id} order by at, id`;
  return rows.map(({ status }) => WORDS[status]);
};

/** Makes a monitor what checks would have found. */
async function setState(id: number, known: Partial<MonitorState>): Promise<void> {
  const state = { ...NEW_STATE, ...known };
  await world.app.sql`
    update monitor_states set status = ${state.status}, state = ${encodeState(state)} where monitor_id = ${id}`;
}

/** Makes a monitor one that was checked a minute ago and is up. */
async function setChecked(id: number): Promise<void> {
  await setState(id, { status: "up", lastKnown: "up", changedAt: ago(60_000).getTime() });
  await world.app.sql`
    update monitor_slots set checked_at = now() - interval '1 minute', lag_ms = 3,
      planned_at = now() + interval '1 minute', due_at = now() + interval '1 minute'
    where monitor_id = ${id}`;
}

/** Inserts a maintenance window of monitors of one account. Returns the id of its scope. */
async function nameInWindow(ids: readonly number[]): Promise<number> {
  const [scope] = await world.app.sql<{ id: number }[]>`
    with made as (
      insert into maintenance (account_id, title, starts_at, duration_seconds, timezone, is_public, planned_until,
        created_at, updated_at)
      select account_id, 'work', now(), 60, 'UTC', false, now(), now(), now() from monitors where id = ${ids[0] ?? 0}
      returning id
    )
    insert into maintenance_scopes (maintenance_id, monitor_ids, tags)
    select id, ${[...ids]}::bigint[], '{}' from made returning id`;
  return scope?.id ?? 0;
}

describe("a monitor", () => {
  it("is created with defaults, its state and its planned checks, and is read as it was answered", async () => {
    const { status, body } = await world.call(URL, { key: world.key, body: { url: "example.org" } });
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
      composite: null,
      tcp: null,
      grpc: null,
      websocket: null,
      degraded: false,
      flapping: false,
      advisory: null,
      last_checked_at: null,
      next_check_at: expect.any(String),
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
    expect(await world.read(id)).toEqual({ id, ...fields, checks: [] });
  });

  it("has its newest checks and what is known about it", async () => {
    const { id } = await world.create({ ...BODY, locations: ["eu-west", "us-east"] });
    const { sql } = world.app;
    const begin = ago(4 * HOUR_MS).getTime();
    const at = new Date(begin + 3 * HOUR_MS);
    const time = at.getTime();
    const found = { at: time, since: time, streak: 3 };
    await setState(id, {
      status: "up",
      lastKnown: "up",
      isFlapping: true,
      isDegraded: true,
      changedAt: time,
      failing: ["eu-west"],
      locations: new Map([
        ["eu-west", { ...found, verdict: "down", fault: FAULT }],
        ["us-east", { ...found, verdict: "up", fault: null }],
      ]),
    });
    await sql`
      update monitor_slots set checked_at = ${at}, lag_ms = 3, planned_at = ${at}, due_at = ${at} where monitor_id = ${id}`;
    // What follows the last of these times is unknown, so that the uptime does not depend on the time of the test.
    await sql`update monitors set created_at = ${new Date(begin)} where id = ${id}`;
    const changes = (["up", "down", "unknown"] as const).map((status, hours) => {
      return { monitorId: id, at: new Date(begin + hours * HOUR_MS), status };
    });
    await transact(sql, async (tx) => {
      for (const one of changes) await addStatusChanges(tx, [one], new Date());
    });
    await sql`
      insert into checks (monitor_id, checked_at, location, status, response_ms, http_status, lag_ms, is_recheck, missed,
        fault)
      values (${id}, ${new Date(time - 1)}, 'us-east', 1, 2, 200, 0, false, 0, null),
        (${id}, ${at}, 'eu-west', 2, null, null, 0, false, 0, ${JSON.stringify(FAULT)})`;
    const known = {
      status: "up",
      degraded: true,
      flapping: true,
      last_checked_at: at.toISOString(),
      next_check_at: at.toISOString(),
      schedule_lag_ms: 3,
      last_change_at: at.toISOString(),
      last_error: FAULT,
      advisory: {
        since: at.toISOString(),
        locations: ["eu-west"],
        message: "The check fails in eu-west only: connection refused",
      },
      uptime: { d1: 50, d7: 50, d30: 50, d90: 50 },
      response_ms: { p50: 2, p95: 2, p99: 2 },
    };
    const { message: _message, ...error } = FAULT;
    const nothing = { response_time_ms: null, http_status_code: null };
    const failed = { checked_at: at.toISOString(), location: "eu-west", status: "down", ...nothing, error };
    const good = { location: "us-east", status: "up", response_time_ms: 2, http_status_code: 200, error: null };
    const checks = [
      { id: expect.any(Number), ...failed },
      { id: expect.any(Number), checked_at: new Date(time - 1).toISOString(), ...good },
    ];
    expect(await world.read(id)).toMatchObject({ ...known, checks });
    expect((await world.change(id, { name: "x" })).body.data).toMatchObject(known);
    expect((await world.change(id, { is_active: false })).body.data).toMatchObject({ next_check_at: null });
  });

  it("is changed field by field, and a record sent back as it was read changes nothing", async () => {
    const { id } = await world.create({ ...BODY, check_type: "keyword", keyword: "x", tags: ["a"] });
    const before = await world.read(id);
    const written = await writtenOf(id);
    const same = await world.change(id, before);
    expect(same.status).toBe(200);
    expect({ ...(same.body.data as object), checks: [] }).toEqual(before);
    expect(await writtenOf(id)).toEqual(written);
    const changed = await world.change(id, { name: "Shop", interval_minutes: 10, degraded_ms: 100 });
    const { next_check_at: _planned, ...kept } = before;
    const expected = { ...kept, name: "Shop", interval_minutes: 10, degraded_ms: 100 };
    expect(await world.read(id)).toMatchObject({ ...expected, updated_at: changed.body.data["updated_at"] });
    expect((await world.change(id, {})).body.data).toEqual(changed.body.data);
  });

  it("is checked at the new times and places after a change", async () => {
    const { id } = await world.create();
    await setChecked(id);
    const written = await writtenOf(id);
    await world.change(id, { name: "New", degraded_ms: 5, tags: ["x"] });
    expect(await writtenOf(id)).toEqual(written);
    await world.change(id, { locations: ["us-east", "eu-west"], timeout_seconds: 5, interval_minutes: 2 });
    expect(await slotsOf(id)).toEqual([
      { location: "eu-west", interval: 120, seconds: 5 },
      { location: "us-east", interval: 120, seconds: 5 },
    ]);
    // The known place keeps what was found there and its planned time; the new one is checked at once.
    const due = await world.app.sql`
      select checked_at is not null as known, due_at < now() + interval '30 seconds' as now from monitor_slots
      where monitor_id = ${id} order by location`;
    expect(due).toEqual([
      { known: true, now: false },
      { known: false, now: true },
    ]);
    expect((await writtenOf(id)).state).toEqual(written.state);
  });

  it("starts anew with a new target, check type or port", async () => {
    const { id } = await world.create();
    const endOf = await openIncident(world.app.sql, id);
    const changes = [
      { url: "https://example.org" },
      { check_type: "keyword", keyword: "x" },
      { check_type: "port", port: 22, url: "example.org" },
      { port: 23 },
    ];
    for (const body of changes) {
      await setChecked(id);
      expect((await world.change(id, body)).body.data).toMatchObject({ status: "unknown", last_change_at: null });
      const due = await world.app.sql`
        select checked_at, due_at < now() + interval '30 seconds' as now from monitor_slots where monitor_id = ${id}`;
      expect(due).toEqual([{ checked_at: null, now: true }]);
    }
    expect(await historyOf(id)).toEqual(changes.map(() => "unknown"));
    expect(await endOf()).toEqual(["resolved", "changed_target", 0]);
  });

  it("is paused and resumed: without checks while it is paused, and known from the beginning afterwards", async () => {
    const { id } = await world.create();
    await setChecked(id);
    const endOf = await openIncident(world.app.sql, id);
    const paused = await world.change(id, { is_active: false });
    expect(paused.body.data).toMatchObject({ is_active: false, status: "unknown", paused_reason: null });
    expect(await slotsOf(id)).toEqual([]);
    expect(await historyOf(id)).toEqual(["unknown"]);
    expect(await endOf()).toEqual(["resolved", "paused", 0]);
    await world.change(id, { interval_minutes: 3, url: "https://example.net" });
    expect(await slotsOf(id)).toEqual([]);
    expect(await historyOf(id)).toEqual(["unknown", "unknown"]);
    const resumed = await world.change(id, { is_active: true });
    expect(resumed.body.data).toMatchObject({ is_active: true, status: "unknown" });
    expect(await slotsOf(id)).toEqual([{ location: "eu-west", interval: 180, seconds: 15 }]);
    expect(await historyOf(id)).toEqual(["unknown", "unknown", "unknown"]);
  });

  it("can be created paused", async () => {
    const { id, is_active: isActive } = await world.create({ ...BODY, is_active: false });
    expect([isActive, await slotsOf(id)]).toEqual([false, []]);
  });

  it("is deleted with its state, its planned checks, the dependency of others on it, and its name in maintenance windows", async () => {
    const { id } = await world.create();
    const child = await world.create({ ...BODY, depends_on: id });
    const endOf = await openIncident(world.app.sql, id);
    const window = await nameInWindow([id, child.id]);
    const deleted = await world.remove(id);
    expect([deleted.status, deleted.body.data]).toEqual([200, { id, deleted: true }]);
    expect(await slotsOf(id)).toEqual([]);
    expect(await endOf()).toEqual(["resolved", "deleted", 0]);
    expect(await world.app.sql`select monitor_ids as ids from maintenance_scopes where id = ${window}`).toEqual([
      { ids: [child.id] },
    ]);
    expect((await world.call(`${URL}?id=${id}`, { key: world.key })).status).toBe(404);
    expect((await world.remove(id)).status).toBe(404);
    expect(await world.app.sql`select from monitor_states where monitor_id = ${id}`).toHaveLength(0);
    expect(await world.read(child.id)).toMatchObject({ depends_on: null });
  });

  it("has the address .php too", async () => {
    const made = await world.call(`${URL}.php`, { key: world.key, body: BODY });
    expect(made.status).toBe(201);
    const { id } = made.body.data as Monitor;
    expect((await world.call(`${URL}.php?id=${id}`, { key: world.key })).body.data).toMatchObject({ id });
  });
});
