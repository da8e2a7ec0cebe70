import { describe, expect, it } from "vitest";
import { BUILT_IN_PLANS, type PlanName, type Plans } from "#control-plane/core/plans.ts";
import { startMonitorService, type MonitorService } from "#test/support/monitor-service.ts";
import { WIDE_LIMITS } from "#test/support/wide-plans.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const URL = "/api/v4/monitors";
const PLANS: Plans = {
  ...BUILT_IN_PLANS,
  // As if an operator had given it the scope.
  free: { ...BUILT_IN_PLANS.free, ...WIDE_LIMITS, scopes: BUILT_IN_PLANS.pro.scopes, monitors: 3 },
  starter: { ...BUILT_IN_PLANS.starter, ...WIDE_LIMITS, monitors: 4 },
  pro: { ...BUILT_IN_PLANS.pro, ...WIDE_LIMITS, monitors: 10 },
};

const one = await stopAfterAll(startMonitorService({ plans: PLANS }));
const two = await stopAfterAll(startMonitorService({ plans: PLANS, databaseUrl: one.databaseUrl }));
for (const service of [one, two]) for (const region of ["a", "b", "c"]) service.attach(region);

interface Monitor {
  readonly id: number;
  readonly is_active: boolean;
  readonly paused_reason: string | null;
  readonly interval_minutes: number;
}

async function createAccount(plan: PlanName): Promise<{ readonly id: number; readonly key: string }> {
  const { body } = await one.operate("POST", "/api/admin/keys", { plan });
  const made = body.data as { account_id: number; key: string };
  return { id: made.account_id, key: made.key };
}

const BODY = { url: "https://example.com", locations: ["a"] };
const post = (key: string, body: object = BODY, service = one) => service.call(URL, { key, body });
const put = (key: string, id: number, body: object) => one.call(`${URL}?id=${id}`, { method: "PUT", key, body });
const setPlan = (id: number, plan: PlanName) => one.operate("PUT", `/api/admin/accounts?id=${id}`, { plan });

async function create(key: string, body: object = BODY): Promise<number> {
  const { status, body: answered, text } = await post(key, body);
  if (status !== 201) throw new Error(text);
  return answered.data["id"];
}

/** The account's monitors, oldest first. */
async function list(key: string): Promise<readonly Monitor[]> {
  const { body } = await one.call(`${URL}?per_page=100`, { key });
  return (body.data as readonly Monitor[]).toReversed();
}

const slotsOf = (ids: readonly number[]) => one.app.sql<{ id: number; location: string; interval: number }[]>`
  select monitor_id as id, location, interval_seconds as interval from monitor_slots
  where monitor_id = any(${[...ids]}::bigint[]) order by monitor_id, location`;

describe("the allowance of a plan", () => {
  it("is never exceeded by creations at the same time at two replicas", async () => {
    const { key } = await createAccount("pro");
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => post(key, BODY, n % 2 === 0 ? one : two)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    const refused = answers.filter(({ status }) => status !== 201);
    for (const { status, body } of refused) {
      expect([status, body.error]).toMatchObject([403, { code: "plan_limit_exceeded", field: "monitors" }]);
    }
    expect(await list(key)).toHaveLength(10);
  });

  it("counts paused monitors, and not deleted ones", async () => {
    const { key } = await createAccount("starter");
    const ids: number[] = [];
    for (let n = 0; n < 4; n += 1) ids.push(await create(key, { ...BODY, is_active: false }));
    expect((await post(key)).status).toBe(403);
    await one.call(`${URL}?id=${ids[0]}`, { method: "DELETE", key });
    expect((await post(key)).status).toBe(201);
  });

  it("also limits imports, as a whole", async () => {
    const { key } = await createAccount("starter");
    await create(key);
    const monitors = Array.from({ length: 4 }, () => BODY);
    const imported = await one.call(`${URL}?action=import`, { key, body: { version: 1, monitors } });
    expect([imported.status, imported.body.error]).toMatchObject([403, { code: "plan_limit_exceeded" }]);
    expect(await list(key)).toHaveLength(1);
  });
});

describe("the shortest interval of a plan", () => {
  it("is required of new monitors and of changed intervals", async () => {
    const { key } = await createAccount("starter");
    const refused = await post(key, { ...BODY, interval_minutes: 1 });
    expect([refused.status, refused.body.error]).toMatchObject([
      403,
      { code: "plan_limit_exceeded", field: "interval_minutes" },
    ]);
    expect(refused.body.error["message"]).toContain("the shortest interval of the plan is 2 min");
    const id = await create(key, { ...BODY, interval_minutes: 2 });
    expect((await put(key, id, { interval_minutes: 1 })).status).toBe(403);
    const inside = await one.call(`${URL}?action=import`, {
      key,
      body: { version: 1, monitors: [BODY, { ...BODY, interval_minutes: 1 }] },
    });
    expect([inside.status, inside.body.error]).toMatchObject([403, { field: "monitors.1.interval_minutes" }]);
  });

  it("is the default if it is longer than 5 minutes", async () => {
    const plans = { ...PLANS, pro: { ...PLANS.pro, shortestIntervalMinutes: 30 } };
    const slow = await startMonitorService({ plans, databaseUrl: one.databaseUrl });
    slow.attach("a");
    const { key } = await createAccount("pro");
    expect((await post(key, BODY, slow)).body.data).toMatchObject({ interval_minutes: 30 });
    await slow.stop();
  });

  it("is used after a downgrade, and the record keeps its interval", async () => {
    const { id: account, key } = await createAccount("pro");
    const id = await create(key, { ...BODY, interval_minutes: 1 });
    expect(await slotsOf([id])).toMatchObject([{ interval: 60 }]);
    await setPlan(account, "free");
    expect(await slotsOf([id])).toMatchObject([{ interval: 300 }]);
    expect((await list(key)).map((monitor) => monitor.interval_minutes)).toEqual([1]);
    expect((await put(key, id, { name: "New", interval_minutes: 1 })).status).toBe(200);
    expect((await put(key, id, { interval_minutes: 3 })).status).toBe(403);
    expect(await slotsOf([id])).toMatchObject([{ interval: 300 }]);
    await setPlan(account, "pro");
    expect(await slotsOf([id])).toMatchObject([{ interval: 60 }]);
  });
});

describe("the number of locations of a plan", () => {
  it("limits the locations of a monitor, and those that are chosen for it", async () => {
    const { key } = await createAccount("free");
    const refused = await post(key, { ...BODY, locations: ["a", "b", "c"] });
    expect([refused.status, refused.body.error]).toMatchObject([
      403,
      { code: "plan_limit_exceeded", field: "locations" },
    ]);
    const chosen = await post(key, { url: "https://example.com" });
    expect(chosen.body.data["locations"]).toEqual(["a", "b"]);
  });

  it("is used after a downgrade, and the record keeps its locations", async () => {
    const { id: account, key } = await createAccount("pro");
    const id = await create(key, { ...BODY, locations: ["c", "b", "a"] });
    await setPlan(account, "free");
    expect((await slotsOf([id])).map(({ location }) => location)).toEqual(["b", "c"]);
    const kept = await put(key, id, { locations: ["c", "b", "a"], name: "New" });
    expect([kept.status, kept.body.data]).toMatchObject([200, { locations: ["c", "b", "a"] }]);
    expect((await put(key, id, { locations: ["c", "a"] })).status).toBe(200);
    expect((await put(key, id, { locations: ["c", "b", "a"] })).status).toBe(403);
  });
});

describe("after a downgrade", () => {
  it("the newest monitors beyond the allowance are paused, and a larger plan resumes them, the oldest first", async () => {
    const { id: account, key } = await createAccount("pro");
    const ids: number[] = [];
    for (let n = 0; n < 7; n += 1) ids.push(await create(key));
    const [, second = 0] = ids;
    await put(key, second, { is_active: false });
    await one.app.sql`update monitor_states set status = 'up' where monitor_id = any(${ids}::bigint[])`;
    await setPlan(account, "free");
    const paused = (await list(key)).map((monitor) => monitor.paused_reason ?? monitor.is_active);
    expect(paused).toEqual([true, false, true, true, "plan", "plan", "plan"]);
    expect(await slotsOf(ids.slice(4))).toEqual([]);
    const resumed = await put(key, ids[6] ?? 0, { is_active: true });
    expect([resumed.status, resumed.body.error]).toMatchObject([
      403,
      { code: "plan_limit_exceeded", field: "is_active" },
    ]);
    expect((await post(key)).status).toBe(403);
    // One place becomes free: the user may choose which monitor takes it.
    await put(key, ids[0] ?? 0, { is_active: false });
    expect((await put(key, ids[6] ?? 0, { is_active: true })).body.data).toMatchObject({ paused_reason: null });
    await setPlan(account, "starter");
    const some = (await list(key)).map((monitor) => monitor.paused_reason ?? monitor.is_active);
    expect(some).toEqual([false, false, true, true, true, "plan", true]);
    await setPlan(account, "pro");
    const all = (await list(key)).map((monitor) => monitor.paused_reason ?? monitor.is_active);
    expect(all).toEqual([false, false, true, true, true, true, true]);
    expect(await slotsOf(ids)).toHaveLength(5);
  });

  it("creations and the change of plan at the same time never leave more active monitors than allowed", async () => {
    for (let round = 0; round < 3; round += 1) {
      const { id: account, key } = await createAccount("pro");
      await Promise.all([
        ...Array.from({ length: 10 }, (_, n) => post(key, BODY, n % 2 === 0 ? one : two)),
        setPlan(account, "free"),
      ]);
      expect((await list(key)).filter((monitor) => monitor.is_active).length).toBeLessThanOrEqual(3);
    }
  });

  it("a change of the address alone changes no monitor", async () => {
    const { id: account, key } = await createAccount("pro");
    const id = await create(key);
    const before = await one.app.sql`select version from monitors where id = ${id}`;
    await one.operate("PUT", `/api/admin/accounts?id=${account}`, { email: `a${account}@example.com` });
    expect(await one.app.sql`select version from monitors where id = ${id}`).toEqual(before);
  });
});

describe("an erased account", () => {
  it("exports its monitors without secrets first, and leaves no row behind", async () => {
    const { id: account, key } = await createAccount("pro");
    const id = await create(key, { ...BODY, request_headers: { Authorization: "s3cret-in-export" } });
    const child = await create(key, { ...BODY, depends_on: id });
    const { status, body, text } = await one.operate("DELETE", `/api/admin/accounts?id=${account}&export=1`);
    expect(status).toBe(200);
    const { export: exported } = body.data as { export: { monitors: readonly Monitor[] } };
    expect(exported.monitors.map((monitor) => monitor.id)).toEqual([id, child]);
    expect(exported.monitors[0]).toMatchObject({ request_headers: { Authorization: "****" } });
    expect(text).not.toContain("s3cret");
    for (const table of ["monitors", "monitor_states", "monitor_slots"]) {
      const column = table === "monitors" ? "id" : "monitor_id";
      const rows = await one.app.sql`
        select from ${one.app.sql(table)} where ${one.app.sql(column)} = any(${[id, child]}::bigint[])`;
      expect(rows, table).toHaveLength(0);
    }
  });

  it("gets a clear answer for a write that was admitted before", async () => {
    const { id: account, key } = await createAccount("pro");
    const id = await create(key);
    // The other replica still knows the key.
    expect((await two.call(URL, { key })).status).toBe(200);
    await one.app.sql`delete from accounts where id = ${account}`;
    const late = [post(key, BODY, two), two.call(`${URL}?id=${id}`, { method: "PUT", key, body: { name: "x" } })];
    for (const { status, body } of await Promise.all(late)) {
      expect([status, body.error]).toMatchObject([401, { code: "invalid_api_key" }]);
    }
  });
});

it("writes with an idempotency key are done once, at any replica", async () => {
  const { key } = await createAccount("pro");
  const send = (service: MonitorService, options: object = { body: BODY }, path = URL) =>
    service.call(path, { key, headers: { "x-idempotency-key": "once" }, ...options });
  const first = await send(one);
  const again = await send(two);
  expect([again.status, again.text, again.headers.get("x-idempotent-replayed")]).toEqual([201, first.text, "true"]);
  expect((await send(one, { body: { ...BODY, name: "other" } })).status).toBe(422);
  const id: number = first.body.data["id"];
  const path = `${URL}?id=${id}`;
  const renamed = await send(one, { method: "PUT", body: { name: "a" } }, path);
  await put(key, id, { name: "b" });
  expect((await send(two, { method: "PUT", body: { name: "a" } }, path)).text).toBe(renamed.text);
  expect((await list(key)).map((monitor) => (monitor as unknown as { name: string }).name)).toEqual(["b"]);
  const deleted = await send(one, { method: "DELETE" }, path);
  expect((await send(two, { method: "DELETE" }, path)).text).toBe(deleted.text);
});
