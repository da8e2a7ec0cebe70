import { pino } from "pino";
import { afterAll, describe, expect, it } from "vitest";
import { openReplica } from "#control-plane/app/replica.ts";
import { readConfig } from "#control-plane/core/config.ts";
import { createEvents } from "#control-plane/notify/events/events.ts";
import { createGatedServer } from "#control-plane/accounts/gated-server.ts";
import { createWrites } from "#control-plane/http/writes.ts";
import { createAnswers } from "#control-plane/http/idempotency/answers.ts";
import { createMaintenance } from "#control-plane/outages/maintenance/maintenance.ts";
import { registerMaintenance } from "#control-plane/outages/maintenance/routes.ts";
import { monitorsBelow100 } from "#test/control-plane/outages/maintenance/account.ts";
import { createManualClock, systemClock, systemRandom } from "#test/support/clock.ts";
import { ADMIN_TOKEN, apiOf, type Answer, type CallOptions } from "#test/support/control-plane.ts";
import { MASTER_KEY } from "#test/support/master-key.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { WIDE_PLANS } from "#test/support/wide-plans.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { createAccount } from "#test/support/audit.ts";
import { liveTimers } from "#test/support/timers.ts";

const PATH = "/api/v4/maintenance";
const clock = createManualClock(new Date("2026-03-01T12:00:00Z"));
const WEEKLY = {
  title: "Database updates",
  monitor_ids: [1],
  tags: ["db"],
  starts_at: "2026-03-07T02:00:00",
  duration_seconds: 3_600,
  rrule: "RRULE:FREQ=WEEKLY;BYDAY=SA",
  timezone: "Europe/Berlin",
  public: true,
};
const ONCE = { title: "t", tags: ["x"], starts_at: "2026-03-02T00:00:00Z", ends_at: "2026-03-02T01:00:00Z" };

const closing: (() => Promise<unknown> | void)[] = [];

const database = await stopAfterAll(createTestDatabase());
const read = readConfig({ DATABASE_URL: database.url });
if (!read.ok) throw new Error(read.line);
const { config } = read;
const log = pino({ level: "silent" });
const inputs = { config, adminToken: ADMIN_TOKEN, masterKey: MASTER_KEY, plans: WIDE_PLANS, hostClock: systemClock };
const app = await openReplica({ ...inputs, random: systemRandom, log }, { clock });
const { server, gate } = createGatedServer(app, { agents: () => 0 });
const answers = createAnswers(app);
const writes = createWrites({ ...app, answers, record: app.changes.record });
const maintenance = createMaintenance({ timers: liveTimers, sql: app.sql, clock, log, monitorsOf: monitorsBelow100 });
registerMaintenance(server, { gate, writes, maintenance, clock, events: createEvents({ ...app, sources: [] }) });
const api = apiOf(await server.listen({ host: "127.0.0.1", port: 0 }));
closing.push(
  () => server.close(),
  () => maintenance.close(),
  () => answers.close(),
  () => app.close(),
);
app.accounts.addExporter("maintenance", (tx, accountId) => maintenance.export(tx, accountId));
const key = await api.createKey();

afterAll(async () => {
  for (const close of closing) await close();
});

const call = (path: string, options: CallOptions = {}) => api.call(`${PATH}${path}`, { key, ...options });
const create = (body: unknown, options: CallOptions = {}) => call("", { body, ...options });
const put = (id: number, body: unknown, options: CallOptions = {}) =>
  call(`?id=${id}`, { method: "PUT", body, ...options });
const idOf = ({ body }: Answer): number => body.data["id"];
const errorOf = ({ status, body }: Answer) => {
  const { code, field, reason } = (body.error ?? {}) as { code?: string; field?: string; reason?: string };
  return [status, code, field, reason];
};

describe("a maintenance window", () => {
  it("is created, read, changed and deleted", async () => {
    const made = await create(WEEKLY);
    expect(made.status).toBe(201);
    const id = idOf(made);
    const shown = {
      id,
      title: "Database updates",
      monitor_ids: [1],
      tags: ["db"],
      starts_at: "2026-03-07T01:00:00.000Z",
      ends_at: null,
      rrule: "FREQ=WEEKLY;BYDAY=SA",
      duration_seconds: 3_600,
      timezone: "Europe/Berlin",
      public: true,
      status: "scheduled",
      next_starts_at: "2026-03-07T01:00:00.000Z",
      current_ends_at: null,
      created_at: "2026-03-01T12:00:00.000Z",
      updated_at: "2026-03-01T12:00:00.000Z",
    };
    expect(made.body.data).toEqual(shown);
    expect((await call(`?id=${id}`)).body.data).toEqual(shown);
    const changed = await put(id, { title: "Other", public: false });
    expect([changed.status, changed.body.data]).toEqual([200, { ...shown, title: "Other", public: false }]);
    const gone = await call(`?id=${id}`, { method: "DELETE" });
    expect([gone.status, gone.body.data]).toEqual([200, { id, deleted: true }]);
    for (const method of ["GET", "DELETE", "PUT"]) {
      const again = await call(`?id=${id}`, { method, ...(method === "PUT" ? { body: {} } : {}) });
      expect(errorOf(again)).toEqual([404, "not_found", undefined, undefined]);
    }
  });

  it("takes its own record back without a change", async () => {
    for (const body of [WEEKLY, ONCE]) {
      const { body: made } = await create(body);
      const sentBack = await put((made.data as { id: number }).id, made.data);
      expect(sentBack.status).toBe(200);
      expect(sentBack.body.data).toEqual(made.data);
    }
  });

  it("is cancelled by its status, and cancelling it again has no effect", async () => {
    const id = idOf(await create(WEEKLY));
    const cancelled = await put(id, { status: "cancelled" });
    expect(cancelled.body.data).toMatchObject({ status: "cancelled", next_starts_at: null });
    expect((await put(id, cancelled.body.data)).body.data).toEqual(cancelled.body.data);
    expect((await put(id, { status: "scheduled" })).body.data).toMatchObject({ status: "scheduled" });
  });

  it.each<[string, unknown, readonly unknown[]]>([
    ["nothing", {}, ["title", "required"]],
    ["no title", { ...ONCE, title: "" }, ["title", "required"]],
    ["a title with a line break", { ...ONCE, title: "a\r\nBcc: b" }, ["title", "type"]],
    ["a long title", { ...ONCE, title: "x".repeat(201) }, ["title", "range"]],
    ["no start", { title: "t", tags: ["x"] }, ["starts_at", "required"]],
    ["a number as start", { ...ONCE, starts_at: 1_772_400_000 }, ["starts_at", "type"]],
    ["an unknown monitor", { ...ONCE, monitor_ids: [1, 100] }, ["monitor_ids", "enum"]],
    ["a text as monitors", { ...ONCE, monitor_ids: "1" }, ["monitor_ids", "type"]],
    [
      "too many monitors",
      { ...ONCE, monitor_ids: Array.from({ length: 1_001 }, (_, id) => id + 1) },
      ["monitor_ids", "range"],
    ],
    ["too many tags", { ...ONCE, tags: Array.from({ length: 21 }, (_, tag) => `t${tag}`) }, ["tags", "range"]],
    ["an odd tag", { ...ONCE, tags: ["Ä"] }, ["tags.0", "type"]],
    ["a rule of seconds", { ...WEEKLY, rrule: "FREQ=SECONDLY" }, ["rrule", "type"]],
    ["several lines", { ...WEEKLY, rrule: "DTSTART:20260101T000000Z\nRRULE:FREQ=DAILY" }, ["rrule", "type"]],
    ["a long rule", { ...WEEKLY, rrule: `FREQ=DAILY;BYHOUR=${"1,".repeat(300)}1` }, ["rrule", undefined]],
    ["an unknown field", { ...ONCE, exdate: [] }, ["exdate", "unknown"]],
    ["a time zone that is none", { ...WEEKLY, timezone: "Berlin" }, ["timezone", "enum"]],
  ])("of %s is refused and named", async (_what, body, [field, reason]) => {
    const [status, code, ...why] = errorOf(await create(body));
    expect([status, code, why[0]]).toEqual([400, "missing_parameter", field]);
    if (reason !== undefined) expect(why[1]).toBe(reason);
  });

  it("of another account is absent: the same bytes as for an id that never was", async () => {
    const id = idOf(await create(WEEKLY));
    const stranger = await api.createKey();
    const bytes = (answer: Answer) => answer.text.replace(/"meta":.*/, "");
    for (const [method, body] of [
      ["GET", undefined],
      ["PUT", { title: "mine" }],
      ["DELETE", undefined],
    ] as const) {
      const options = { method, ...(body === undefined ? {} : { body }) };
      const foreign = await call(`?id=${id}`, { ...options, key: stranger });
      const absent = await call("?id=999999999", { ...options, key: stranger });
      expect([foreign.status, bytes(foreign)]).toEqual([404, bytes(absent)]);
    }
    expect((await call("", { key: stranger })).body.data).toEqual([]);
    expect((await call(`?id=${id}`)).body.data).toMatchObject({ title: WEEKLY.title });
  });

  it("keeps its monitors when another field is changed, also if one of them is no longer the account's", async () => {
    const id = idOf(await create(WEEKLY));
    await app.sql`update maintenance_scopes set monitor_ids = '{1,500}' where maintenance_id = ${id}`;
    expect((await put(id, { title: "u", monitor_ids: [500, 1] })).status).toBe(200);
    expect(errorOf(await put(id, { monitor_ids: [500, 600] }))).toEqual([
      400,
      "missing_parameter",
      "monitor_ids",
      "enum",
    ]);
  });

  it("needs the scope monitors, and is repeated under its idempotency key without a second window", async () => {
    const free = await api.createKey("free");
    expect(errorOf(await create(ONCE, { key: free }))[1]).toBe("insufficient_scope");
    const headers = { "x-idempotency-key": "maintenance-1" };
    const first = await create(ONCE, { headers });
    const again = await create(ONCE, { headers });
    expect([again.text, again.headers.get("x-idempotent-replayed")]).toEqual([first.text, "true"]);
    expect(errorOf(await create(WEEKLY, { headers }))[1]).toBe("idempotency_mismatch");
    const refused = await create({ ...ONCE, rrule: "no" }, { headers: { "x-idempotency-key": "maintenance-2" } });
    const replayed = await create({ ...ONCE, rrule: "no" }, { headers: { "x-idempotency-key": "maintenance-2" } });
    expect([replayed.text, refused.status]).toEqual([refused.text, 400]);
  });
});

describe("the list of maintenance windows", () => {
  it("is filtered and in pages, newest first", async () => {
    const own = await api.createKey();
    const ids: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      const answer = await create({ ...WEEKLY, monitor_ids: [n % 2], tags: ["x"], title: `w${n}` }, { key: own });
      if (n % 2 === 1) ids.unshift(idOf(answer));
      else expect(errorOf(answer).slice(2)).toEqual(["monitor_ids.0", "range"]);
    }
    for (let n = 0; n < 3; n += 1) ids.unshift(idOf(await create({ ...ONCE, title: `o${n}` }, { key: own })));
    const list = async (query: string) => {
      const { body } = await call(query, { key: own });
      const rows = body.data as readonly { id: number }[];
      return { ids: rows.map(({ id }) => id), pagination: (body.meta as { pagination: unknown }).pagination };
    };
    expect((await list("")).ids).toEqual(ids);
    expect(await list("?per_page=2&page=2")).toEqual({
      ids: ids.slice(2, 4),
      pagination: { total: 5, page: 2, per_page: 2, pages: 3 },
    });
    expect((await list("?monitor_id=1")).ids).toEqual(ids.slice(3));
    expect((await list("?monitor_id=2")).ids).toEqual([]);
    await put(ids[0] ?? 0, { status: "cancelled" }, { key: own });
    expect((await list("?status=cancelled")).ids).toEqual(ids.slice(0, 1));
    clock.advance(12.5 * 3_600_000);
    expect((await list("?status=in_progress")).ids).toEqual(ids.slice(1, 3));
    expect(await list("?status=scheduled&per_page=1")).toEqual({
      ids: ids.slice(3, 4),
      pagination: { total: 2, page: 1, per_page: 1, pages: 2 },
    });
    clock.advance(3_600_000);
    expect((await list("?status=completed")).ids).toEqual(ids.slice(1, 3));
    expect(errorOf(await call("?status=over", { key: own }))).toEqual([400, "missing_parameter", "status", "enum"]);
  });
});

it("an erased account takes its windows along, and its export has them", async () => {
  const own = await createAccount(api);
  const id = idOf(await create({ ...WEEKLY, starts_at: "2026-02-01T00:00:00", rrule: "FREQ=DAILY" }, own));
  const erased = await api.operate("DELETE", `/api/admin/accounts?id=${own.id}&export=1`);
  expect(erased.status).toBe(200);
  expect((erased.body.data as { export: unknown }).export).toMatchObject({ maintenance: { windows: [{ id }] } });
  expect(await app.sql`select from maintenance_occurrences where maintenance_id = ${id}`).toHaveLength(0);
});
