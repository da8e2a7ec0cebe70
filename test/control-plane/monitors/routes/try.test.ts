import { describe, expect, it } from "vitest";
import { failed, ok } from "#shared/contracts/outcome.ts";
import type { Job } from "#shared/protocol/probe.ts";
import type { Answer } from "#test/support/control-plane.ts";
import { GOOD, startTrialWorld, TRY } from "#test/control-plane/monitors/try/world.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const world = await stopAfterAll(startTrialWorld());

/** Every row of every table, but the counts of requests that the gate keeps, and when keys were used. */
async function readDatabase(): Promise<ReadonlyMap<string, string>> {
  const { sql } = world.app;
  const tables = await sql<{ name: string }[]>`
    select table_schema || '.' || table_name as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')
      and table_name <> 'request_counts'
    order by name`;
  const contents = new Map<string, string>();
  for (const { name } of tables) {
    const [row] = await sql.unsafe<{ rows: string | null }[]>(
      `select string_agg(row, E'\\n' order by row) as rows
       from (select (to_jsonb(t) - 'used_at')::text as row from ${name} as t) as rows`,
    );
    contents.set(name, row?.rows ?? "");
  }
  return contents;
}

const warningsOf = ({ body }: Answer) =>
  ((body.meta as { warnings?: readonly { parameter: string; message: string }[] }).warnings ?? []).map(
    ({ parameter }) => parameter,
  );

describe("a try of a monitor", () => {
  it("checks from every location as a planned check does, and answers what was found", async () => {
    const asked: Job[] = [];
    world.answer((job) => {
      asked.push(job);
      return ok(GOOD);
    });
    const { tryOut } = await world.openAccount();
    const { status, body } = await tryOut({
      url: "https://example.com/",
      timeout_seconds: 7,
      request_headers: { "x-a": "b" },
    });
    expect(status).toBe(200);
    const check = {
      checked_at: expect.stringMatching(/Z$/),
      status: "up",
      response_time_ms: 12,
      http_status_code: 200,
      timing: GOOD.phases,
      error: null,
    };
    expect(body.data).toEqual({
      check_type: "http",
      checked: true,
      verdict: "up",
      cause: null,
      message: null,
      checks: [
        { ...check, location: "eu-west" },
        { ...check, location: "us-east" },
      ],
      next_runs: null,
    });
    const [job] = asked;
    expect([asked.length, job?.tool]).toEqual([2, "monitor-http"]);
    const params = JSON.parse(job?.params ?? "") as object;
    expect(params).toMatchObject({ timeout_seconds: 7, headers: [["x-a", "b"]] });
  });

  it("is down at once, with the cause of an incident", async () => {
    world.answer(() => failed("connect", "target", "refused", "93.184.215.14:443: connection refused"));
    const { tryOut } = await world.openAccount();
    const { status, body } = await tryOut({ url: "https://example.com/", locations: ["eu-west"], retries: 5 });
    expect([status, body.data]).toMatchObject([
      200,
      {
        verdict: "down",
        cause: { code: "connect_refused", message: "Connection refused from eu-west (port 443)" },
        checks: [{ status: "down", error: { stage: "connect", source: "target", reason: "refused" } }],
      },
    ]);
  });

  it("is unknown where the probe fails", async () => {
    world.answer(() => failed("dns", "probe", "no_network", "the probe has no network"));
    const { tryOut } = await world.openAccount();
    const { body } = await tryOut({ url: "https://example.com/", locations: ["eu-west"] });
    expect(body.data).toMatchObject({ verdict: "unknown", cause: { code: "no_network" } });
  });

  it("of a picture without one is unknown and never down", async () => {
    const { tryOut } = await world.openAccount();
    const browser = world.attachBrowser();
    try {
      const fault = { stage: "response", reason: "http_error", message: "expected a page, got 404" };
      world.answer(() => ok({ ...GOOD, verdict: "down", fault, phases: null }));
      const body = { url: "https://example.com/", check_type: "visual" };
      expect((await tryOut(body)).body.data).toMatchObject({
        verdict: "unknown",
        cause: { code: "http_error" },
        checks: [{ location: "browser", status: "unknown", error: { reason: "http_error" } }],
      });
      world.answer(() => ok({ ...GOOD, phases: null }));
      expect((await tryOut(body)).body.data).toMatchObject({ verdict: "unknown", cause: { code: "picture_missing" } });
    } finally {
      browser.cut();
    }
  });

  it("of a domain asks its registry from one place, whose silence says nothing", async () => {
    const { tryOut } = await world.openAccount();
    const asked: unknown[] = [];
    const body = { url: "example.org", check_type: "domain", timeout_seconds: 3 };
    world.answer((job) => {
      asked.push([job.tool, (JSON.parse(job.params) as { timeout_seconds: number }).timeout_seconds]);
      return ok({ ...GOOD, http_status: null, phases: null });
    });
    expect((await tryOut(body)).body.data).toMatchObject({ verdict: "up", checks: [{ location: "eu-west" }] });
    expect(asked).toEqual([["monitor-domain", 28]]);
    const fault = { stage: "response", reason: "expired", message: "the registration has expired" };
    world.answer(() => ok({ ...GOOD, verdict: "down", fault }));
    expect((await tryOut(body)).body.data).toMatchObject({
      verdict: "down",
      checks: [{ error: { reason: "expired" } }],
    });
    world.answer(() => failed("response", "target", "timeout", "no answer in 28 s"));
    expect((await tryOut(body)).body.data).toMatchObject({ verdict: "unknown", cause: { code: "timeout" } });
  });

  it("of a heartbeat has nothing to check, and shows the next runs of its cron expression", async () => {
    const { tryOut } = await world.openAccount();
    const cron = { cron: "30 2 * * *", timezone: "Europe/Berlin" };
    const { status, body } = await tryOut({ check_type: "heartbeat", name: "Backup", heartbeat: cron });
    expect([status, body.data]).toMatchObject([
      200,
      {
        check_type: "heartbeat",
        checked: false,
        verdict: "unknown",
        cause: null,
        checks: [],
        message: "There is nothing to check: the monitor is a heartbeat, which waits for pings.",
      },
    ]);
    const { next_runs: runs } = body.data as { next_runs: readonly string[] };
    expect(runs).toHaveLength(5);
    const inBerlin = new Intl.DateTimeFormat("sv", { timeZone: "Europe/Berlin", timeStyle: "short" });
    expect(new Set(runs.map((run) => inBerlin.format(new Date(run))))).toEqual(new Set(["02:30"]));
    expect(new Set(runs).size).toBe(5);
    const period = await tryOut({ check_type: "heartbeat", name: "Backup", heartbeat: { period_seconds: 60 } });
    expect(period.body.data).toMatchObject({ checked: false, next_runs: null });
  });

  it("of a composite is the state that it would have now", async () => {
    const { tryOut, create } = await world.openAccount();
    const made: number[] = [];
    for (const name of ["Shop", "Blog"]) {
      made.push((await create({ check_type: "heartbeat", name })).body.data["id"]);
    }
    const body = { check_type: "composite", name: "Both", composite: { monitor_ids: made, down_when: "any" } };
    const states = async (...statuses: readonly string[]) => {
      for (const [index, status] of statuses.entries()) {
        await world.app.sql`update monitor_states set status = ${status} where monitor_id = ${made[index] ?? 0}`;
      }
      return (await tryOut(body)).body.data as object;
    };
    expect(await states("unknown", "unknown")).toMatchObject({
      verdict: "unknown",
      cause: { code: "members_unknown" },
    });
    expect(await states("up", "unknown")).toMatchObject({ checked: true, verdict: "up", cause: null, checks: [] });
    expect(await states("up", "down")).toMatchObject({
      verdict: "down",
      cause: { code: "members_down", message: "1 of 2 monitors is down: Blog" },
    });
  });

  it("stores nothing, also with an idempotency key", async () => {
    world.answer(() => failed("connect", "target", "refused", "connection refused"));
    const { key, tryOut } = await world.openAccount();
    const mailed = { url: "https://example.com/", notify_email: true, notify_emails: ["new@example.com"] };
    const before = await readDatabase();
    expect(before.size).toBeGreaterThan(40);
    expect((await tryOut(mailed)).body.data).toMatchObject({ verdict: "down" });
    await tryOut({ check_type: "heartbeat", name: "Backup" });
    const keyed = { key, body: mailed, headers: { "x-idempotency-key": "one" } };
    for (let round = 0; round < 2; round += 1) {
      const { status, headers } = await world.call(TRY, keyed);
      expect([status, headers.get("x-idempotent-replayed")]).toEqual([200, null]);
    }
    expect(await readDatabase()).toEqual(before);
  });
});

describe("what a creation refuses", () => {
  it.each<readonly [object]>([
    [{ url: "nonsense" }],
    [{ url: "http://10.0.0.1/" }],
    [{ url: "https://example.com", check_type: "carrier-pigeon" }],
    [{ url: "https://example.com", wrong: 1 }],
    [{ url: "https://example.com", check_type: "keyword" }],
    [{ url: "https://example.com", locations: ["mars"] }],
    [{ url: "https://example.com", check_type: "visual" }],
    [{ url: "https://example.com", depends_on: 999_999 }],
    [{ url: "10.0.0.1", locations: ["mars"], check_type: "ping" }],
    [{ check_type: "heartbeat", heartbeat: { cron: "0 0 30 2 *" } }],
    [{ check_type: "composite", composite: { monitor_ids: [999_999, 999_998] } }],
    [{}],
  ])("a try refuses in the same words, and does not count it: %j", async (given) => {
    world.answer(() => {
      throw new Error("a refused monitor is checked");
    });
    const { tryOut, create } = await world.openAccount();
    const refused = await create(given);
    expect(refused.status).toBeGreaterThanOrEqual(400);
    for (let round = 0; round < 7; round += 1) {
      const { status, body } = await tryOut(given);
      expect([status, body.error]).toEqual([refused.status, refused.body.error]);
    }
  });

  it("is the same for a key that only reads, and for a body beyond the limit", async () => {
    const { id, create, tryOut } = await world.openAccount();
    const reader = await world.operate("POST", "/api/admin/keys", { account_id: id, scopes: ["monitors:read"] });
    const { key } = reader.body.data as { key: string };
    const { status, body } = await world.call(TRY, { key, body: { url: "https://example.com" } });
    expect([status, body.error]).toMatchObject([403, { code: "insufficient_scope" }]);
    const large = { url: "https://example.com", name: "x".repeat(1_100_000) };
    const refused = await create(large);
    expect(refused.status).toBe(413);
    expect((await tryOut(large)).body.error).toEqual(refused.body.error);
  });

  it("is not the number of monitors, of which a try warns", async () => {
    world.answer(() => ok(GOOD));
    const { tryOut, create } = await world.openAccount("starter");
    const given = { url: "http://example.com/", locations: ["eu-west"], interval_minutes: 60 };
    const before = await tryOut(given);
    expect([before.status, warningsOf(before)]).toEqual([200, ["url"]]);
    const made = await create(given);
    expect([made.status, warningsOf(made)]).toEqual([201, ["url"]]);
    const full = (await create(given)).body.error as { code: string; message: string };
    expect(full.code).toBe("plan_limit_exceeded");
    const after = await tryOut(given);
    expect([after.status, warningsOf(after)]).toEqual([200, ["monitors", "url"]]);
    expect(after.text).toContain(full.message);
    const three = await tryOut({ ...given, locations: ["eu-west", "us-east", "agent"] });
    expect(three.status).toBe(400);
  });
});
