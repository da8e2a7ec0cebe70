import { Value } from "typebox/value";
import type { TSchema } from "typebox";
import { describe, expect, it } from "vitest";
import { transact } from "#control-plane/core/database/transaction.ts";
import { MOST_OPEN } from "#control-plane/outages/incidents/incidents.ts";
import { DETAILS, INCIDENT } from "#control-plane/outages/incidents/schemas.ts";
import {
  insertMonitor,
  openOutage,
  refusedAt,
  resolveOutage,
  STARTED,
} from "#test/control-plane/outages/incidents/database.ts";
import { startIncidentServer } from "#test/control-plane/outages/incidents/server.ts";
import { createManualClock } from "#test/support/clock.ts";
import type { Answer } from "#test/support/control-plane.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const URL = "/api/v4/incidents";
const OPENING = { title: "Payments are delayed", text: "We are looking into it." };

/** The fields of an answer that these tests read. */
interface Shown {
  readonly id: number;
  readonly title: string;
  readonly status: string;
  readonly monitor_ids: readonly number[];
  readonly acknowledged: { readonly by: string } | null;
  readonly updates: readonly { readonly text: string; readonly by: string; readonly status: string }[];
  readonly timeline: readonly { readonly kind: string; readonly text: string; readonly by: string | null }[];
}

/** A body with the field and the reason of its refusal. */
type Refused = readonly [what: string, body: object, problem: readonly [field: string, reason: string]];

const clock = createManualClock(STARTED);
let stranger: { readonly key: string; readonly accountId: number };

const database = await stopAfterAll(createTestDatabase());
const server = await stopAfterAll(startIncidentServer(database.url, clock));
const { key, accountId } = await server.createKey();
stranger = await server.createKey("captain", "eve");

const shown = ({ body }: Answer): Shown => body.data;
const listed = ({ body }: Answer): readonly Shown[] => body.data;
const errorOf = ({ status, body }: Answer) => [status, body.error["code"], body.error["field"], body.error["reason"]];
const monitorOf = (account: number, name = "Shop") => insertMonitor(server.app.sql, account, name);
const get = (query: string, as = key) => server.call(`${URL}?${query}`, { key: as });
const post = (body: object, as = key, headers = {}) => server.call(URL, { key: as, body, headers });
const put = (id: number | string, body: object, as = key, headers = {}) =>
  server.call(`${URL}?id=${id}`, { method: "PUT", key: as, body, headers });

/** Opens an incident by hand for a new monitor. */
async function openOne(more: object = {}, as = { key, accountId }): Promise<Shown> {
  const monitor = await monitorOf(as.accountId);
  const answer = await post({ ...OPENING, monitor_ids: [monitor.id], ...more }, as.key);
  expect(answer.text).toContain('"data"');
  return shown(answer);
}

/** Opens the incident of an outage. */
async function openAnOutage(account = accountId) {
  const monitor = await monitorOf(account, "Checkout");
  const outage = {
    monitor,
    startedAt: clock.now(),
    confirmedAt: clock.now(),
    failing: refusedAt("eu-west"),
    suppressedBy: null,
  };
  const { incident } = await transact(server.app.sql, (tx) => openOutage(tx, outage));
  return { monitor, incident };
}

/** Expects data to have the published shape, without further fields. */
function expectShape(schema: TSchema, data: unknown): void {
  expect(Array.from(Value.Errors(schema, data))).toEqual([]);
  expect(Object.keys(data as object).toSorted()).toEqual(
    Object.keys((schema as TSchema & { properties: object }).properties).toSorted(),
  );
}

describe("an incident opened by hand", () => {
  it("is created with its first update, and read again", async () => {
    const monitor = await monitorOf(accountId);
    const answer = await post({ ...OPENING, monitor_ids: [monitor.id, monitor.id], page_ids: [5] });
    expect(answer.status).toBe(201);
    expectShape(DETAILS, answer.body.data);
    expect(answer.body.data).toMatchObject({
      monitor: null,
      monitor_ids: [monitor.id],
      page_ids: [5],
      title: "Payments are delayed",
      status: "investigating",
      impact: "minor",
      manual: true,
      public: true,
      cause: null,
      locations: [],
      resolved_at: null,
      updates: [{ by: "key ann", status: "investigating", text: "We are looking into it.", public: true }],
      timeline: [{ kind: "update", by: "key ann", text: "investigating: We are looking into it." }],
      evidence: null,
    });
    expect((await get(`id=${shown(answer).id}`)).body.data).toEqual(answer.body.data);
  });

  it("goes through its statuses to its end", async () => {
    const { id } = await openOne({ impact: "critical", public: false });
    clock.advance(60_000);
    await put(id, { update: { status: "identified", text: "The database\nis full." } });
    clock.advance(60_000);
    const answer = await put(id, { update: { status: "resolved", text: "Done.", public: true } });
    expect(answer.status).toBe(200);
    expectShape(DETAILS, answer.body.data);
    expect(answer.body.data).toMatchObject({ status: "resolved", duration_seconds: 120, recovered_at: null });
    expect(shown(answer).updates.map(({ status, text }) => [status, text])).toEqual([
      ["resolved", "Done."],
      ["identified", "The database\nis full."],
      ["investigating", "We are looking into it."],
    ]);
    clock.advance(60_000);
    expect((await get(`id=${id}`)).body.data).toMatchObject({ duration_seconds: 120 });
  });

  it("can be planned work, from the start or later", async () => {
    const { id } = await openOne({ impact: "maintenance" });
    expect((await get(`id=${id}`)).body.data).toMatchObject({ impact: "maintenance" });
    const changed = await openOne({ impact: "minor" });
    await put(changed.id, { impact: "maintenance" });
    expect((await get(`id=${changed.id}`)).body.data).toMatchObject({ impact: "maintenance" });
  });

  it("can be over when it is opened", async () => {
    const { id, status } = await openOne({ status: "resolved" });
    expect(status).toBe("resolved");
    expect((await get(`id=${id}`)).body.data).toMatchObject({ duration_seconds: 0 });
  });

  it("concerns monitors and pages of the account only; others are refused like absent ones", async () => {
    const own = await monitorOf(accountId);
    const foreign = await monitorOf(stranger.accountId);
    const refused = await post({ ...OPENING, monitor_ids: [own.id, foreign.id] });
    expect(errorOf(refused)).toEqual([404, "not_found", "monitor_ids", undefined]);
    const absent = await post({ ...OPENING, monitor_ids: [own.id, 999_999] });
    expect(refused.body.error["message"]).toBe(`No monitor has the id ${foreign.id}.`);
    expect(absent.body.error["message"]).toBe("No monitor has the id 999999.");
    expect(errorOf(await post({ ...OPENING, page_ids: [6] }))).toEqual([404, "not_found", "page_ids", undefined]);
  });

  it.each<Refused>([
    ["no title", { text: "x", monitor_ids: [1] }, ["title", "required"]],
    ["no text", { title: "x", monitor_ids: [1] }, ["text", "required"]],
    ["neither monitors nor pages", OPENING, ["monitor_ids", "required"]],
    ["an empty list", { ...OPENING, monitor_ids: [] }, ["monitor_ids", "required"]],
    ["a monitor that is no number", { ...OPENING, monitor_ids: ["x"] }, ["monitor_ids.0", "type"]],
    [
      "too many monitors",
      { ...OPENING, monitor_ids: Array.from({ length: 101 }, (_, n) => n + 1) },
      ["monitor_ids", "range"],
    ],
    ["an unknown status", { ...OPENING, monitor_ids: [1], status: "open" }, ["status", "enum"]],
    ["an unknown impact", { ...OPENING, monitor_ids: [1], impact: "huge" }, ["impact", "enum"]],
    ["a title of two lines", { ...OPENING, monitor_ids: [1], title: "a\nb" }, ["title", "type"]],
    ["a long title", { ...OPENING, monitor_ids: [1], title: "x".repeat(201) }, ["title", "range"]],
    ["a long text", { ...OPENING, monitor_ids: [1], text: "x".repeat(5_001) }, ["text", "range"]],
    ["an empty text", { ...OPENING, monitor_ids: [1], text: "" }, ["text", "required"]],
    ["an unknown field", { ...OPENING, monitor_ids: [1], severity: 1 }, ["severity", "unknown"]],
  ])("is refused with %s", async (_what, body, problem) => {
    expect(errorOf(await post(body))).toEqual([400, "missing_parameter", ...problem]);
  });

  it("is refused with a blank text", async () => {
    const { id } = await monitorOf(accountId);
    expect(errorOf(await post({ ...OPENING, monitor_ids: [id], text: " \n" }))).toEqual([
      400,
      "missing_parameter",
      "text",
      "range",
    ]);
    expect(errorOf(await post({ ...OPENING, monitor_ids: [id], title: "  " }))).toEqual([
      400,
      "missing_parameter",
      "title",
      "range",
    ]);
  });

  it("is refused when an account has too many open ones", async () => {
    const busy = await server.createKey();
    const { id } = await monitorOf(busy.accountId);
    const body = { ...OPENING, monitor_ids: [id] };
    const statuses: number[] = [];
    for (let count = 0; count < MOST_OPEN; count += 1) statuses.push((await post(body, busy.key)).status);
    expect(new Set(statuses)).toEqual(new Set([201]));
    expect(errorOf(await post(body, busy.key)).slice(0, 2)).toEqual([403, "plan_limit_exceeded"]);
    const [newest] = listed(await get("per_page=1", busy.key));
    await put(newest?.id ?? 0, { update: { status: "resolved", text: "Done." } }, busy.key);
    expect((await post(body, busy.key)).status).toBe(201);
  });
});

describe("a change by hand", () => {
  it("acknowledges an outage, with who did it", async () => {
    const { incident } = await openAnOutage();
    const answer = await put(incident.id, { acknowledged: true, note: "I look.\nAnn" });
    expectShape(DETAILS, answer.body.data);
    expect(shown(answer).acknowledged).toMatchObject({ by: "key ann" });
    expect(shown(answer).timeline.slice(2)).toMatchObject([
      { kind: "acknowledged", by: "key ann" },
      { kind: "note", by: "key ann", text: "I look.\nAnn" },
    ]);
  });

  it("does not resolve an outage, which the recovery of the monitor does", async () => {
    const { incident } = await openAnOutage();
    const refused = await put(incident.id, { note: "x", update: { status: "resolved", text: "Done." } });
    expect(errorOf(refused)).toEqual([400, "missing_parameter", "update.status", "enum"]);
    expect(shown(await get(`id=${incident.id}`)).timeline).toHaveLength(2);
  });

  it("names a key without a name by its first characters", async () => {
    const { id } = await openOne();
    await server.app.sql`update keys set name = null where account_id = ${accountId}`;
    const answer = await put(id, { acknowledged: true });
    await server.app.sql`update keys set name = 'ann' where account_id = ${accountId}`;
    expect(shown(answer).acknowledged?.by).toBe(`key ${key.slice(0, 8)}`);
  });

  it("names the pages that show it, in place of those before; pages of others are refused like absent ones", async () => {
    const { incident } = await openAnOutage();
    const named = await put(incident.id, { page_ids: [5] });
    expect(named.body.data).toMatchObject({ page_ids: [5] });
    expect(errorOf(await put(incident.id, { page_ids: [5, 6] }))).toEqual([404, "not_found", "page_ids", undefined]);
    expect((await put(incident.id, { note: "x" })).body.data).toMatchObject({ page_ids: [5] });
    // A page that was deleted since does not keep an incident from being sent back as it was read.
    await server.app.sql`update incidents set page_ids = '{5,77}' where id = ${incident.id}`;
    expect((await put(incident.id, { page_ids: [5, 77] })).status).toBe(200);
    expect((await put(incident.id, { page_ids: [] })).body.data).toMatchObject({ page_ids: [] });
    const alone = shown(await post({ ...OPENING, page_ids: [5] }));
    expect(errorOf(await put(alone.id, { page_ids: [] }))).toEqual([400, "missing_parameter", "page_ids", "required"]);
  });

  it("accepts an incident as it was read, but for its acknowledgement", async () => {
    const { acknowledged: _acknowledged, ...read } = await openOne();
    const answer = await put(read.id, { ...read, title: "Payments fail" });
    expect(shown(answer).title).toBe("Payments fail");
  });

  it.each<Refused>([
    ["a note that is a number", { note: 1 }, ["note", "type"]],
    ["an acknowledgement that is a word", { acknowledged: "maybe" }, ["acknowledged", "type"]],
    ["an update without text", { update: { status: "identified" } }, ["update.text", "required"]],
    ["an update with an unknown field", { update: { text: "x", at: "now" } }, ["update.at", "unknown"]],
    ["an update with an unknown status", { update: { text: "x", status: "open" } }, ["update.status", "enum"]],
    ["a long update", { update: { text: "x".repeat(5_001) } }, ["update.text", "range"]],
    ["an update with a control character", { update: { text: "a\u0007b" } }, ["update.text", "type"]],
    ["a long note", { note: "x".repeat(5_001) }, ["note", "range"]],
    ["an unknown field", { severity: 1 }, ["severity", "unknown"]],
  ])("is refused with %s", async (_what, body, problem) => {
    const { id } = await openOne();
    expect(errorOf(await put(id, body))).toEqual([400, "missing_parameter", ...problem]);
  });

  it("keeps what others change at the same time", async () => {
    const { id } = await openOne();
    const changes = [
      { title: "Payments fail" },
      { impact: "critical" },
      { public: false },
      { acknowledged: true },
      { update: { status: "identified", text: "The database is full." } },
    ];
    expect(new Set(await Promise.all(changes.map(async (change) => (await put(id, change)).status)))).toEqual(
      new Set([200]),
    );
    expect((await get(`id=${id}`)).body.data).toMatchObject({
      title: "Payments fail",
      impact: "critical",
      public: false,
      acknowledged: { by: "key ann" },
      status: "identified",
    });
  });

  it("is not lost among twenty at once", async () => {
    const { id } = await openOne();
    await Promise.all(Array.from({ length: 20 }, (_, n) => put(id, { note: `note ${n}` })));
    const notes = shown(await get(`id=${id}`)).timeline.filter(({ kind }) => kind === "note");
    expect(new Set(notes.map(({ text }) => text)).size).toBe(20);
    const [row] = await server.app.sql<{ counted: number; found: number }[]>`
      select entry_count as counted, (select count(*) from incident_entries where incident_id = ${id}) as found
      from incidents where id = ${id}`;
    expect(row).toEqual({ counted: 21, found: 21 });
  });
});

describe("incidents of another account", () => {
  it("are answered like absent ones, in every door", async () => {
    const { id } = await openOne({}, stranger);
    for (const ask of [(one: number) => get(`id=${one}`), (one: number) => put(one, { note: "x" })]) {
      const [foreign, absent] = [await ask(id), await ask(999_999)];
      expect(errorOf(foreign)).toEqual([404, "not_found", undefined, undefined]);
      expect(foreign.body.error).toEqual(absent.body.error);
    }
    const all = listed(await get("per_page=100"));
    expect(all.map((one) => one.id)).not.toContain(id);
    expect(listed(await get(`monitor_id=1`, stranger.key)).every((one) => one.id === id)).toBe(true);
  });

  it("need the scope monitors", async () => {
    const free = await server.createKey("free");
    expect(errorOf(await get("", free.key)).slice(0, 2)).toEqual([403, "insufficient_scope"]);
    expect(errorOf(await post(OPENING, free.key)).slice(0, 2)).toEqual([403, "insufficient_scope"]);
  });
});

describe("a list of incidents", () => {
  it("is newest first, in pages without gaps, each with its updates", async () => {
    const owner = await server.createKey();
    const opened: number[] = [];
    for (let count = 0; count < 7; count += 1) opened.push((await openOne({ title: `No. ${count}` }, owner)).id);
    await put(opened[3] ?? 0, { update: { status: "monitoring", text: "A fix is out." } }, owner.key);
    const pages = await Promise.all([1, 2, 3, 4].map((page) => get(`page=${page}&per_page=3`, owner.key)));
    expect(pages.flatMap((page) => listed(page).map(({ id }) => id))).toEqual(opened.toReversed());
    expect(pages[0]?.body.meta["pagination"]).toEqual({ total: 7, page: 1, per_page: 3, pages: 3 });
    for (const page of pages) for (const one of listed(page)) expectShape(INCIDENT, one);
    const [fourth] = listed(await get("status=monitoring", owner.key));
    expect(fourth?.updates.map(({ text }) => text)).toEqual(["A fix is out.", "We are looking into it."]);
  });

  it("is filtered by monitor and status", async () => {
    const owner = await server.createKey();
    const { incident, monitor } = await openAnOutage(owner.accountId);
    const ended = await openAnOutage(owner.accountId);
    const times = { recoveredAt: clock.now(), confirmedAt: clock.now() };
    await transact(server.app.sql, (tx) => resolveOutage(tx, ended.incident.id, times));
    const byHand = shown(await post({ ...OPENING, status: "identified", monitor_ids: [monitor.id] }, owner.key));
    const ids = async (query: string) => listed(await get(query, owner.key)).map(({ id }) => id);
    expect(await ids("")).toEqual([byHand.id, ended.incident.id, incident.id]);
    expect(await ids(`monitor_id=${monitor.id}`)).toEqual([byHand.id, incident.id]);
    expect(await ids("status=open")).toEqual([byHand.id, incident.id]);
    expect(await ids("status=resolved")).toEqual([ended.incident.id]);
    expect(await ids("status=investigating")).toEqual([incident.id]);
    expect(await ids(`status=resolved&monitor_id=${monitor.id}`)).toEqual([]);
    expect(errorOf(await get("status=closed", owner.key))).toEqual([400, "missing_parameter", "status", "enum"]);
    expect(errorOf(await get("id=x", owner.key))).toEqual([400, "missing_parameter", "id", "type"]);
  });
});

describe("a write with an X-Idempotency-Key", () => {
  it("happens once", async () => {
    const { id: monitorId } = await monitorOf(accountId);
    const headers = { "x-idempotency-key": "open-once" };
    const body = { ...OPENING, monitor_ids: [monitorId] };
    const [first, again] = [await post(body, key, headers), await post(body, key, headers)];
    expect([first.status, again.status, again.headers.get("x-idempotent-replayed")]).toEqual([201, 201, "true"]);
    expect(again.text).toBe(first.text);
    expect(listed(await get(`monitor_id=${monitorId}`))).toHaveLength(1);
    const { id } = shown(first);
    const note = { "x-idempotency-key": "note-once" };
    await put(id, { note: "once" }, key, note);
    expect((await put(id, { note: "once" }, key, note)).headers.get("x-idempotent-replayed")).toBe("true");
    expect(shown(await get(`id=${id}`)).timeline).toHaveLength(2);
  });
});
