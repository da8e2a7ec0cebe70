import { describe, expect, it } from "vitest";
import { startControlPlane, type Answer } from "#test/support/control-plane.ts";
import { createManualClock } from "#test/support/clock.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { untilLockIsAwaited } from "#test/support/database-locks.ts";
import { advanceAlive } from "#test/support/heartbeats/liveness.ts";

interface Ping {
  readonly kind: string;
  readonly exit_code: number | null;
  readonly rid: string | null;
  readonly method: string;
  readonly duration_ms: number | null;
  readonly body: string | null;
  readonly body_truncated: boolean;
}

interface Heartbeat {
  readonly id: number;
  readonly status: string;
  readonly last_checked_at: string | null;
  readonly last_error: { readonly reason: string; readonly message: string } | null;
  readonly heartbeat_url: string;
  readonly cron_line?: string;
  readonly heartbeat: {
    readonly period_seconds: number;
    readonly last_ping_at: string | null;
    readonly last_kind: string | null;
    readonly last_duration_ms: number | null;
    readonly run_started_at: string | null;
    readonly deadline_at: string | null;
    readonly pings?: readonly Ping[];
  };
}

interface Incident {
  readonly status: string;
  readonly started_at: string;
  readonly confirmed_at: string;
  readonly cause: { readonly code: string; readonly message: string };
}

const START = new Date("2026-03-01T12:00:00.000Z");
const clock = createManualClock(START);

const plane = await stopAfterAll(startControlPlane({ overrides: { clock } }));
const key = await plane.createKey("captain");

const advance = (seconds: number) => advanceAlive(plane.app.sql, clock, seconds * 1_000);

async function create(body: object): Promise<Heartbeat> {
  const made = await plane.call("/api/v4/monitors", { key, body: { check_type: "heartbeat", ...body } });
  expect(made.text).toContain('"heartbeat_url"');
  expect(made.status).toBe(201);
  return made.body.data;
}

async function read(id: number): Promise<Heartbeat> {
  return (await plane.call(`/api/v4/monitors?id=${id}`, { key })).body.data;
}

async function incidentsOf(id: number): Promise<readonly Incident[]> {
  return (await plane.call(`/api/v4/incidents?monitor_id=${id}`, { key })).body.data;
}

function ping({ heartbeat_url: url }: Heartbeat, rest = "", options: RequestInit = {}): Promise<Answer> {
  return plane.call(`${new URL(url).pathname}${rest}`, options as never);
}

describe("a new heartbeat", () => {
  it("is unknown until its first ping, and shows a line for a crontab", async () => {
    const made = await create({ name: "Backup", heartbeat: { period_seconds: 3_600, grace_seconds: 300 } });
    expect(made).toMatchObject({ status: "unknown", last_checked_at: null });
    expect(made.heartbeat).toEqual({
      period_seconds: 3_600,
      grace_seconds: 300,
      cron: null,
      timezone: "UTC",
      methods: "any",
      last_ping_at: null,
      last_kind: null,
      last_duration_ms: null,
      run_started_at: null,
      deadline_at: null,
    });
    expect(made.cron_line).toBe(
      `0 * * * * /path/to/job; curl -fsS -m 10 --retry 5 -o /dev/null ${made.heartbeat_url}/$?`,
    );
    expect(made.heartbeat_url).toMatch(/\/api\/heartbeat\/[0-9A-Za-z]{32}$/);
    expect((await read(made.id)).heartbeat_url).toBe(made.heartbeat_url);

    const answer = await ping(made);
    expect(answer.status).toBe(200);
    const now = clock.now().getTime();
    expect(JSON.parse(answer.text)).toEqual({ status: "ok", next_ping_expected: now / 1_000 + 3_600 });
    const up = await read(made.id);
    expect(up).toMatchObject({ status: "up", last_checked_at: clock.now().toISOString() });
    expect(up.heartbeat.deadline_at).toBe(new Date(now + 3_900_000).toISOString());
  });

  it("has the interval as its period, and none of the fields of checks", async () => {
    const made = await create({ interval_minutes: 30 });
    expect(made).toMatchObject({ name: "heartbeat", url: "", heartbeat: { period_seconds: 1_800 }, locations: [] });
    const changed = await plane.call(`/api/v4/monitors?id=${made.id}`, { key, method: "PUT", body: made });
    expect(changed.status, changed.text).toBe(200);
    const shorter = await plane.call(`/api/v4/monitors?id=${made.id}`, {
      key,
      method: "PUT",
      body: { interval_minutes: 10 },
    });
    expect(shorter.body.data).toMatchObject({ heartbeat: { period_seconds: 600, grace_seconds: 60 } });
  });
});

describe("a heartbeat with a schedule that was taken once and is refused now", () => {
  it("takes its pings and can be changed, as long as the schedule stays", async () => {
    const made = await create({ heartbeat: { cron: "0 0 * * fri-sat" } });
    await plane.app.sql`
      update monitors set settings = replace(settings, 'fri-sat', 'fri-sun') where id = ${made.id}`;
    expect((await ping(made)).status).toBe(200);
    const put = (body: object) => plane.call(`/api/v4/monitors?id=${made.id}`, { key, method: "PUT", body });
    expect((await put({ name: "Weekend", heartbeat: { grace_seconds: 120 } })).status).toBe(200);
    const refused = await put({ heartbeat: { timezone: "Europe/Berlin" } });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain("heartbeat.cron: the day of week field has the range");
  });
});

describe("a heartbeat without a ping", () => {
  it("is down from its deadline on, with an incident that says so, and up again with the next ping", async () => {
    const made = await create({ name: "Import", heartbeat: { period_seconds: 60, grace_seconds: 30 } });
    await ping(made);
    const pingedAt = clock.now().getTime();
    await advance(89);
    expect((await read(made.id)).status).toBe("up");
    await advance(11);
    await expect.poll(async () => (await read(made.id)).status).toBe("down");
    const deadline = new Date(pingedAt + 90_000).toISOString();
    const [incident] = await incidentsOf(made.id);
    expect(incident).toMatchObject({ started_at: deadline, confirmed_at: deadline });
    expect(incident?.cause).toEqual({
      code: "heartbeat_late",
      message: `No ping arrived by ${deadline.slice(0, 19).replace("T", " ")} UTC`,
    });
    await ping(made);
    expect(await read(made.id)).toMatchObject({ status: "up", last_error: null });
    expect(await incidentsOf(made.id)).toMatchObject([{ status: "resolved" }]);
  });

  it("stays up while a ping that came in time waits for the database", async () => {
    const made = await create({ name: "Sync", heartbeat: { period_seconds: 30, grace_seconds: 10 } });
    await ping(made);
    await advance(39);
    const answers: Promise<Answer>[] = [];
    await plane.app.sql.begin(async (tx) => {
      // Pings cannot be written. Sweeps of late heartbeats do not need this table.
      await tx`lock table heartbeat_pings in share mode`;
      answers.push(ping(made));
      await untilLockIsAwaited(tx);
      // A sweep notes that the service lives before it looks for what is due: at the second note the first is over.
      await advance(10);
      expect(await incidentsOf(made.id)).toEqual([]);
    });
    expect(await Promise.all(answers)).toMatchObject([{ status: 200 }]);
    await advance(10);
    expect(await read(made.id)).toMatchObject({ status: "up" });
    expect(await incidentsOf(made.id)).toEqual([]);
  });

  it("is down when a run that has started does not end in time", async () => {
    const made = await create({ name: "Report", heartbeat: { period_seconds: 86_400, grace_seconds: 60 } });
    await ping(made, "/start?rid=a");
    expect(await read(made.id)).toMatchObject({ status: "unknown", heartbeat: { last_kind: "start" } });
    await advance(61);
    await expect.poll(async () => (await read(made.id)).status).toBe("down");
    expect((await incidentsOf(made.id))[0]?.cause.code).toBe("heartbeat_unfinished");
  });
});

describe("pings", () => {
  it("report starts, failures, logs and exit codes, and are kept with their bodies", async () => {
    const made = await create({ heartbeat: { period_seconds: 600 } });
    await ping(made, "/start?rid=r1");
    clock.advance(1_500);
    await ping(made, "/0?rid=r1", { method: "POST", body: "done \u0000 \u00e4" });
    expect(await read(made.id)).toMatchObject({ status: "up", heartbeat: { last_duration_ms: 1_500 } });
    await ping(made, "/log", { method: "POST", body: "note", headers: { "content-type": "text/x-odd; a=b" } });
    const head = await fetch(`${plane.url}${new URL(made.heartbeat_url).pathname}/fail`, { method: "HEAD" });
    expect(head.status).toBe(200);
    expect(await read(made.id)).toMatchObject({
      status: "down",
      last_error: { reason: "heartbeat_failed", message: "the run reported a failure" },
    });
    await ping(made, "/3", { method: "POST", body: "x".repeat(20_000) });
    const { heartbeat } = await read(made.id);
    expect(heartbeat.pings).toMatchObject([
      { kind: "exit", exit_code: 3, body: "x".repeat(10_240), body_truncated: true },
      { kind: "fail", method: "HEAD", body: null },
      { kind: "log", method: "POST", body: "note" },
      { kind: "exit", exit_code: 0, rid: "r1", duration_ms: 1_500, body: "done \ufffd \u00e4", body_truncated: false },
      { kind: "start", rid: "r1", method: "GET" },
    ]);
  });

  it("are not counted with another method, or while the monitor is paused", async () => {
    const made = await create({ heartbeat: { methods: "post", period_seconds: 60 } });
    const answer = await ping(made, "");
    expect(answer.status, answer.text).toBe(200);
    expect((await read(made.id)).heartbeat.pings).toEqual([]);
    await plane.call(`/api/v4/monitors?id=${made.id}`, { key, method: "PUT", body: { is_active: false } });
    expect((await ping(made, "", { method: "POST" })).status).toBe(200);
    expect(await read(made.id)).toMatchObject({ status: "unknown", heartbeat: { pings: [] } });
  });

  it("from before a pause change no status after it", async () => {
    const made = await create({});
    // A replica was killed before the status followed this failure.
    await plane.app.sql`
      update heartbeats set ping_count = 1, verdicts = '[[1,1772366400000,"failed",null]]', verdict_number = 1
      where monitor_id = ${made.id}`;
    for (const isActive of [false, true]) {
      await plane.call(`/api/v4/monitors?id=${made.id}`, { key, method: "PUT", body: { is_active: isActive } });
    }
    await ping(made);
    expect((await read(made.id)).status).toBe("up");
    expect(await incidentsOf(made.id)).toEqual([]);
  });

  it("work at a new address after a rotation, and the former one leads nowhere", async () => {
    const made = await create({});
    const rotated = await plane.call(`/api/v4/monitors?action=rotate&id=${made.id}`, { key, method: "POST" });
    expect(rotated.status, rotated.text).toBe(200);
    const changed: Heartbeat = rotated.body.data;
    expect(changed.heartbeat_url).not.toBe(made.heartbeat_url);
    expect(changed.cron_line).toContain(changed.heartbeat_url);
    await ping(made);
    expect((await read(made.id)).status).toBe("unknown");
    await ping(changed);
    expect((await read(made.id)).status).toBe("up");
  });
});

describe("pings that the database does not take", () => {
  /** Makes the database fail with an error when it is to store a ping with this body. */
  async function fail(body: string, code: string): Promise<void> {
    await plane.app.sql.unsafe(`
      create or replace function fail_ping() returns trigger language plpgsql as $$
        begin
          if new.body = '${body}' then raise exception 'no' using errcode = '${code}'; end if;
          return new;
        end
      $$;
      create or replace trigger fail_ping before insert or update on heartbeat_pings
        for each row execute function fail_ping()`);
  }

  it("are answered with 500 if it refuses them, and those to other addresses are recorded", async () => {
    const all = await Promise.all(["One", "Two", "Three"].map((name) => create({ name })));
    await fail("refused", "22000");
    const bodies = ["fine", "refused", "fine"];
    const answers = await Promise.all(all.map((one, at) => ping(one, "", { method: "POST", body: bodies[at] ?? "" })));
    expect(answers.map(({ status }) => status)).toEqual([200, 500, 200]);
    const seen = await Promise.all(all.map(({ id }) => read(id)));
    expect(seen.map(({ heartbeat }) => heartbeat.pings?.map(({ body }) => body))).toEqual([["fine"], [], ["fine"]]);
  });

  it("are answered with 503 when they have waited for 10 s, and are recorded once if it takes them before", async () => {
    const [early, late] = await Promise.all(["Early", "Late"].map((name) => create({ name })));
    if (early === undefined || late === undefined) throw new Error("no heartbeat");
    const waiting = () => plane.app.metrics.registry.metrics();
    await fail("not now", "40001");
    const options = { method: "POST", body: "not now" };
    const first = ping(early, "", options);
    await expect.poll(waiting).toContain("vantage_heartbeat_pings_waiting 1\n");
    await advance(5);
    const second = ping(late, "", options);
    await expect.poll(waiting).toContain("vantage_heartbeat_pings_waiting 2\n");
    await advance(6);
    expect((await first).status).toBe(503);
    await fail("", "40001");
    expect((await second).status).toBe(200);
    const seen = await Promise.all([early, late].map(({ id }) => read(id)));
    expect(seen.map(({ heartbeat }) => heartbeat.pings?.map(({ body }) => body))).toEqual([[], ["not now"]]);
  });
});

describe("notices of a heartbeat", () => {
  const eventsOf = async (id: number): Promise<readonly string[]> => {
    const rows = await plane.app.sql<{ type: string }[]>`
      select type from events where monitor_id = ${id} order by created_at, id`;
    return rows.map(({ type }) => type);
  };

  it("are held during maintenance, and sent after it if the job is still silent", async () => {
    const made = await create({ name: "Mirror", heartbeat: { period_seconds: 60, grace_seconds: 30 } });
    await ping(made);
    const window = await plane.call("/api/v4/maintenance", {
      key,
      body: {
        title: "Move",
        monitor_ids: [made.id],
        starts_at: clock.now().toISOString(),
        ends_at: new Date(clock.now().getTime() + 150_000).toISOString(),
      },
    });
    expect(window.status, window.text).toBe(201);
    await advance(100);
    await expect.poll(async () => (await read(made.id)).status).toBe("down");
    expect(await eventsOf(made.id)).toEqual([]);
    // A sweep every 30 s finds that the window has ended, and the next one that the job is still silent.
    await advance(120);
    await expect.poll(() => eventsOf(made.id)).toEqual(["monitor.down"]);
    await ping(made);
    await expect.poll(() => eventsOf(made.id)).toEqual(["monitor.down", "monitor.up"]);
  });

  it("remind of an outage that lasts, and wait for the monitor it depends on", async () => {
    const parent = await create({ name: "Host", heartbeat: { period_seconds: 30, grace_seconds: 1 } });
    const child = await create({
      name: "Job",
      depends_on: parent.id,
      repeat_minutes: 1,
      heartbeat: { period_seconds: 60, grace_seconds: 1 },
    });
    const alone = await create({
      name: "Alone",
      repeat_minutes: 1,
      heartbeat: { period_seconds: 60, grace_seconds: 1 },
    });
    for (const one of [parent, child, alone]) await ping(one);
    await advance(70);
    await expect.poll(async () => (await read(child.id)).status).toBe("down");
    await advance(65);
    await expect.poll(() => eventsOf(alone.id)).toEqual(["monitor.down", "reminder"]);
    expect(await eventsOf(parent.id)).toEqual(["monitor.down"]);
    expect(await eventsOf(child.id)).toEqual([]);
    for (const one of [child, parent]) await ping(one);
    await expect.poll(() => eventsOf(parent.id)).toEqual(["monitor.down", "monitor.up"]);
    expect(await read(child.id)).toMatchObject({ status: "up" });
    expect(await eventsOf(child.id)).toEqual([]);
  });
});

describe("a heartbeat whose row cannot be read", () => {
  it("does not hold up the others", async () => {
    const [broken, other] = await Promise.all([create({ name: "Broken" }), create({ name: "Other" })]);
    for (const one of [broken, other]) await ping(one);
    await plane.app.sql`update monitor_states set state = '{' where monitor_id = ${broken.id}`;
    await advance(400);
    await expect.poll(async () => (await read(other.id)).status).toBe("down");
    await plane.app.sql`update monitor_states set state = '{}' where monitor_id = ${broken.id}`;
    await advance(60);
    await expect.poll(async () => (await read(broken.id)).status).toBe("down");
  });
});
