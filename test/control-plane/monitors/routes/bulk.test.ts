import { describe, expect, it } from "vitest";
import { openIncident } from "#test/control-plane/monitors/routes/open-incident.ts";
import { BODY, startMonitorsWorld, URL } from "#test/control-plane/monitors/routes/world.ts";
import type { Answer } from "#test/support/control-plane.ts";
import { createWatchedAccount } from "#test/support/watched-account.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { listChanges, type LoggedChange } from "#test/support/list-changes.ts";

const world = await stopAfterAll(startMonitorsWorld());

interface Changed {
  readonly id: number;
  readonly name: string;
  readonly changed: readonly { readonly field: string; readonly before: unknown; readonly after: unknown }[];
}

interface Bulk {
  readonly dry_run: boolean;
  readonly changed: number;
  readonly unchanged: number;
  readonly monitors: readonly Changed[];
}

const send = (body: object, { as = world.key, headers = {} } = {}): Promise<Answer> =>
  world.call(`${URL}?action=bulk`, { method: "PUT", key: as, body, headers });

/** Sends a change that has to be accepted. */
async function change(ids: readonly number[], set: object, over: object = {}): Promise<Bulk> {
  const { status, body, text } = await send({ ids, set, ...over });
  expect(status, text).toBe(200);
  return body.data;
}

const create = async (body: object = BODY) => (await world.create(body)).id;

/** Everything that is stored of monitors, with the transactions that wrote it: a write that changes nothing shows too. */
async function stored(ids: readonly number[]): Promise<readonly unknown[]> {
  const { sql } = world.app;
  const among = sql`any(${[...ids]}::bigint[])`;
  return Promise.all([
    sql`select xmin::text, * from monitors where id = ${among} order by id`,
    sql`select xmin::text, * from monitor_slots where monitor_id = ${among} order by monitor_id, location`,
    sql`select xmin::text, * from monitor_states where monitor_id = ${among} order by monitor_id`,
    sql`select xmin::text, * from heartbeats where monitor_id = ${among} order by monitor_id`,
    sql`select * from account_changes where resource_id = ${among} order by id`,
  ]);
}

/** The changes of monitors in the log, oldest first. */
async function logOf(ids: readonly number[]): Promise<readonly LoggedChange[]> {
  const all = await listChanges(world, world.key, "subject=monitor");
  return all.filter(({ subject: { id }, action }) => ids.includes(id ?? 0) && action !== "created").toReversed();
}

const slotsOf = (ids: readonly number[]) => world.app.sql`
  select monitor_id as id, location, interval_seconds as seconds from monitor_slots
  where monitor_id = any(${[...ids]}::bigint[]) order by monitor_id, location`;

const heartbeat = { check_type: "heartbeat", name: "job" };
const host = { url: "example.com", locations: ["eu-west"] };

describe("a change of many monitors", () => {
  it("gives each the fields, and answers in the order of the ids what has changed", async () => {
    const [one, two] = [await create({ ...BODY, name: "Shop" }), await create({ ...BODY, interval_minutes: 10 })];
    const job = await create(heartbeat);
    const answer = await change([two, job, one], { interval_minutes: 10, repeat_minutes: 30 });
    const repeat = { field: "repeat_minutes", before: null, after: 30 };
    const interval = { field: "interval_minutes", before: 5, after: 10 };
    expect(answer).toEqual({
      dry_run: false,
      changed: 3,
      unchanged: 0,
      monitors: [
        { id: two, name: "example.com/health", changed: [repeat] },
        {
          id: job,
          name: "job",
          changed: [{ field: "heartbeat.period_seconds", before: 300, after: 600 }, repeat, interval],
        },
        { id: one, name: "Shop", changed: [repeat, interval] },
      ],
    });
    expect(await world.read(one)).toMatchObject({ interval_minutes: 10, repeat_minutes: 30, name: "Shop" });
    expect(await world.read(job)).toMatchObject({ heartbeat: { period_seconds: 600, grace_seconds: 60 } });
    expect(await slotsOf([one, two, job])).toEqual([
      { id: one, location: "eu-west", seconds: 600 },
      { id: two, location: "eu-west", seconds: 600 },
    ]);
  });

  it("notes in the log of changes each monitor that it changes, with its name and the values, and no other", async () => {
    const [one, two] = [await create({ ...BODY, name: "Shop" }), await create({ ...BODY, retries: 1 })];
    const three = await create({ ...BODY, name: "Mail", retries: 0 });
    expect(await change([one, two, three], { retries: 1 })).toMatchObject({ changed: 2, unchanged: 1 });
    const before = await stored([two]);
    expect(await change([one, two], { retries: 1 })).toMatchObject({ changed: 0, unchanged: 2 });
    expect(await stored([two])).toEqual(before);
    const logged = { action: "changed", changed: [{ field: "retries", before: 2, after: 1 }] };
    expect(await logOf([one, two, three])).toMatchObject([
      { ...logged, subject: { id: one, name: "Shop" } },
      { ...logged, subject: { id: three, name: "Mail" }, changed: [{ field: "retries", before: 0, after: 1 }] },
    ]);
  });

  it("as a dry run answers the same, and writes nothing", async () => {
    const ids = [await create(), await create(heartbeat), await create({ ...BODY, interval_minutes: 30 })];
    const before = await stored(ids);
    const set = { interval_minutes: 30, is_active: false, tags_add: ["night"] };
    const tried = await change(ids, set, { dry_run: true });
    expect(await stored(ids)).toEqual(before);
    expect(tried).toMatchObject({ dry_run: true, changed: 3 });
    expect(await change(ids, set)).toEqual({ ...tried, dry_run: false });
    expect(await change(ids, set, { dry_run: true })).toMatchObject({ changed: 0, unchanged: 3 });
  });

  it("pauses and resumes: checks, states, deadlines and incidents follow as they do one by one", async () => {
    const { sql } = world.app;
    const ids = [await create(), await create(heartbeat), await create({ ...BODY, is_active: false })];
    const [one, job, idle] = ids;
    await sql`update heartbeats set deadline_at = now() + interval '1 hour' where monitor_id = ${job ?? 0}`;
    const ended = await openIncident(sql, one ?? 0);
    const paused = await change(ids, { is_active: false });
    expect(paused.monitors.map(({ id, changed }) => [id, changed.length])).toEqual([
      [one, 1],
      [job, 1],
      [idle, 0],
    ]);
    expect(await slotsOf(ids)).toEqual([]);
    expect(await ended()).toEqual(["resolved", "paused", 0]);
    expect(await world.read(job ?? 0)).toMatchObject({ heartbeat: { deadline_at: null } });
    await change(ids, { is_active: true });
    expect((await slotsOf(ids)).map(({ id }) => id)).toEqual([one, idle]);
  });

  it("moves the visits to new locations, and checks there at once", async () => {
    const ids = [await create(), await create()];
    const { monitors } = await change(ids, { locations: ["us-east", "eu-west"] });
    const moved = { field: "locations", before: ["eu-west"], after: ["us-east", "eu-west"] };
    expect(monitors.map(({ changed }) => changed)).toEqual([[moved], [moved]]);
    const planned = await world.app.sql`
      select monitor_id as id, location from monitor_slots
      where monitor_id = any(${ids}::bigint[]) and location = 'us-east' and due_at < now() + interval '1 minute'`;
    expect(planned).toHaveLength(2);
  });

  it("adds and removes tags beside those that a monitor has", async () => {
    const [one, two] = [await create({ ...BODY, tags: ["b", "a"] }), await create({ ...BODY, tags: ["new"] })];
    const { monitors } = await change([one, two], { tags_add: ["new", "c"], tags_remove: ["b", "absent"] });
    expect(monitors.map(({ changed }) => changed)).toEqual([
      [{ field: "tags", before: ["b", "a"], after: ["a", "new", "c"] }],
      [{ field: "tags", before: ["new"], after: ["new", "c"] }],
    ]);
    expect(await change([one, two], { tags: ["d"] })).toMatchObject({ changed: 2 });
    expect(await world.read(one)).toMatchObject({ tags: ["d"] });
  });

  it("shows no secret, keeps masked ones, and names those that another origin removes", async () => {
    const secret = { ...BODY, method: "POST", request_headers: { Authorization: "Bearer s3cret" }, body: "s3cret" };
    const [one, two] = [await create(secret), await create(secret)];
    const set = { request_headers: { Authorization: "****", "X-Team": "t0psecret" }, body: "0ther" };
    const { text } = await send({ ids: [one, two], set });
    expect(text).not.toMatch(/s3cret|t0psecret|0ther/);
    const hidden = (field: string) => ({ field, before: "changed", after: "changed" });
    const { data } = JSON.parse(text) as { readonly data: Bulk };
    expect(data.monitors[1]?.changed).toEqual([hidden("request_headers.X-Team"), hidden("body")]);
    expect(await world.read(two)).toMatchObject({ request_headers: { Authorization: "****", "X-Team": "****" } });
    const tcp = { check_type: "tcp", url: "example.com:70", locations: ["eu-west"], tcp: { send: "s3cret" } };
    const servers = [await create(tcp), await create(tcp)];
    const moved = await send({ ids: servers, set: { tcp: { tls: "implicit" } } });
    expect(moved.text).not.toContain("s3cret");
    expect(moved.body.data).toMatchObject({
      monitors: [{ changed: [{ field: "tcp.tls", before: "none", after: "implicit" }, hidden("tcp.send")] }, {}],
    });
    expect(moved.body.meta).toMatchObject({
      warnings: [{ parameter: "tcp.send", message: expect.stringContaining('"tcp.send" is removed from 2 monitors') }],
    });
  });

  it("is in the log of changes as the change of one is, by the names of header fields", async () => {
    const headers = { Accept: "text/html", "X-Api-Key": "s3cret", "X-Old": "s3cret" };
    const given = { ...BODY, request_headers: headers, json: { path: "$.ok", op: "exists" } };
    const [one, many] = [await create(given), await create(given)];
    const set = { request_headers: { Accept: "text/html", "X-Api-Key": "0ther" }, json: null, retries: 1 };
    expect((await world.change(one, set)).status).toBe(200);
    await change([many], set);
    const [single, bulk] = await logOf([one, many]);
    expect(bulk?.changed).toEqual(single?.changed);
    const names = (bulk?.changed ?? []).map(({ field }) => field);
    expect(names.toSorted()).toEqual(["json", "request_headers.X-Api-Key", "request_headers.X-Old", "retries"]);
    expect(JSON.stringify(bulk)).not.toMatch(/s3cret|0ther/);
  });

  it("is done once for a repeated idempotency key", async () => {
    const ids = [await create(), await create()];
    const headers = { "x-idempotency-key": `bulk-${ids.join("-")}` };
    const first = await send({ ids, set: { retries: 0 } }, { headers });
    const again = await send({ ids, set: { retries: 0 } }, { headers });
    expect(again.text).toBe(first.text);
    expect(await logOf(ids)).toHaveLength(2);
  });
});

describe("a change of many monitors is refused as a whole", () => {
  /** Sends a change that has to be refused, and leaves everything as it is. Returns the error. */
  async function refuse(body: object, status = 400, ids: readonly number[] = []): Promise<Refused> {
    const before = await stored(ids);
    const answer = await send(body);
    expect(answer.status, answer.text).toBe(status);
    expect(await stored(ids)).toEqual(before);
    return answer.body.error;
  }

  interface Refused {
    readonly code: string;
    readonly field: string;
    readonly message: string;
    readonly problems?: readonly object[];
  }

  it("with all problems at once, each with its monitor, in the order of the ids", async () => {
    const web = await create();
    const job = await create(heartbeat);
    const many = await create({ ...BODY, tags: Array.from({ length: 20 }, (_, at) => `t${at}`) });
    const visual = await create({ ...host, check_type: "ping" });
    const ids = [visual, web, job, many];
    const set = { follow: false, tags_add: ["one-more"], locations: ["eu-west", "us-east"] };
    const error = await refuse({ ids, set }, 400, ids);
    expect(error).toMatchObject({ code: "missing_parameter", field: "set.follow", reason: "unknown" });
    expect(error.message).toBe(
      `set.follow: is only for check_type http and keyword; the check_type of this monitor is ping (monitor ${visual}, ` +
        "the first of those in error.problems).",
    );
    expect(error.problems).toEqual([
      { row: "ids.0", id: visual, field: "follow", reason: "unknown", message: expect.stringContaining("is ping") },
      { row: "ids.2", id: job, field: "follow", reason: "unknown", message: expect.stringContaining("heartbeat") },
      { row: "ids.3", id: many, field: "tags_add", reason: "range", message: expect.stringContaining("21 tags") },
    ]);
  });

  it("with at most 50 problems", async () => {
    const { key, ids } = await createWatchedAccount(world, world.app.sql, 60);
    const { body } = await send({ ids, set: { heartbeat: { grace_seconds: 90 } } }, { as: key });
    expect((body.error as unknown as Refused).problems).toHaveLength(50);
    expect(await listChanges(world, key, "subject=monitor")).toEqual([]);
  });

  it("for fields that say what one monitor is, and for all other fields that are wrong for each", async () => {
    const id = await create();
    const set = { name: "x", url: "https://example.org", check_type: "ssl", composite: { monitor_ids: [id] }, port: 0 };
    const { field, problems } = await refuse({ ids: [id], set }, 400, [id]);
    expect(field).toBe("set.name");
    const single = { row: "set", reason: "unknown", message: expect.stringContaining("allowed: interval_minutes, ") };
    expect(problems).toEqual([
      { ...single, field: "name" },
      { ...single, field: "url" },
      { ...single, field: "check_type" },
      { row: "set", field: "port", reason: "range", message: "must be between 1 and 65535, or null" },
      { ...single, field: "composite.monitor_ids" },
    ]);
  });

  it.each<readonly [set: object, field: string, message: string]>([
    [{}, "set", "must have at least one field"],
    [{ status: "up" }, "set.status", "no such field; allowed: interval_minutes, "],
    [{ tags: ["a"], tags_add: ["b"] }, "set.tags_add", "cannot be given with tags"],
    [{ tags_add: ["a", "b"], tags_remove: ["b"] }, "set.tags_remove.0", "is in tags_add too"],
    [{ notify_emails: ["nobody"] }, "set.notify_emails.0", "must be an email address"],
    [{ locations: ["all"] }, "set.locations.0", "selects"],
    [{ heartbeat: { last_kind: "success" } }, "set.heartbeat.last_kind", "no such field"],
  ])("for %j", async (set, field, message) => {
    const id = await create();
    const error = await refuse({ ids: [id], set }, 400, [id]);
    expect([error.code, error.field]).toEqual(["missing_parameter", field]);
    expect(error.message).toContain(message);
  });

  it("for ids that are too many before one is looked at, repeated, or none", async () => {
    const id = await create();
    const set = { retries: 0 };
    const fieldOf = async (ids: readonly unknown[]) => (await refuse({ ids, set }, 400, [id])).field;
    expect(await fieldOf(Array.from({ length: 1_001 }, () => "x"))).toBe("ids");
    expect(await fieldOf([])).toBe("ids");
    expect(await fieldOf([id, id])).toBe("ids.1");
    expect(await fieldOf([id, "one"])).toBe("ids.1");
    expect((await refuse({ set })).field).toBe("ids");
    expect((await refuse({ ids: [id] })).field).toBe("set");
  });

  it("as not found for ids of nobody and of another account alike, which it names", async () => {
    const other = await world.createKey();
    const foreign = (await world.create(BODY, other)).id;
    const own = await create();
    const error = await refuse({ ids: [own, foreign, 999_999_999], set: { retries: 0 } }, 404, [own, foreign]);
    expect(error).toEqual({
      code: "not_found",
      field: "ids.1",
      reason: "unknown",
      message: `No monitor of your account has the ids ${foreign}, 999999999.`,
      problems: [1, 2].map((at) => ({
        row: `ids.${at}`,
        id: at === 1 ? foreign : 999_999_999,
        field: null,
        reason: "unknown",
        message: "no monitor of your account has this id",
      })),
    });
  });

  it("for dependencies that would lead back, or make a chain too long", async () => {
    const ids = [await create(), await create(), await create(), await create()];
    const [top = 0, middle = 0, low = 0, side = 0] = ids;
    await world.change(middle, { depends_on: top });
    await world.change(low, { depends_on: middle });
    const { problems } = await refuse({ ids: [top, low, side, middle], set: { depends_on: low } }, 400, ids);
    expect(problems).toMatchObject([
      { id: top, field: "depends_on", message: expect.stringContaining("cycle") },
      { id: low, field: "depends_on", message: expect.stringContaining("cycle") },
      { id: middle, field: "depends_on", message: expect.stringContaining("cycle") },
    ]);
    await change([low, side], { depends_on: top });
    expect(await world.read(side)).toMatchObject({ depends_on: top });
    const far = [await create(), await create(), await create(), await create()];
    for (const [at, id] of far.slice(1).entries()) await world.change(id, { depends_on: far[at] ?? 0 });
    const long = await refuse({ ids: [side, top], set: { depends_on: far.at(-1) ?? 0 } }, 400, ids);
    expect(long.problems).toMatchObject([{ id: top, reason: "range", message: expect.stringContaining("chain of") }]);
    const unknown = await refuse({ ids, set: { depends_on: 999_999_999 } }, 400, ids);
    expect(unknown).toMatchObject({ field: "set.depends_on", problems: [{ row: "set", field: "depends_on" }] });
  });

  it("over a composite that follows one of them", async () => {
    const [one, two] = [await create(), await create()];
    const all = await create({ check_type: "composite", composite: { monitor_ids: [one, two] } });
    const { problems } = await refuse({ ids: [one, two], set: { depends_on: all } }, 400, [one, two]);
    expect(problems).toMatchObject([{ id: one }, { id: two }]);
  });
});
