import { afterAll, describe, expect, it } from "vitest";
import { BUILT_IN_PLANS } from "#control-plane/core/plans.ts";
import {
  callExport,
  createAccount,
  exportAudit,
  isSignedWith,
  revealSecret,
  type SignedAnswer,
} from "#test/support/audit.ts";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane, type Answer } from "#test/support/control-plane.ts";
import { portsOutcome } from "#test/support/measurements.ts";
import { attachScripted, helloOf } from "#test/support/scripted-agent.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
// Noon of today: the certificate of the agent is valid then as now.
const noon = Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2;
const clock = createManualClock(new Date(noon + 250));
const timeAt = (minutes: number) => new Date(noon + minutes * MINUTE_MS).toISOString();
const dayAt = (days: number) => new Date(noon + days * DAY_MS).toISOString().slice(0, 10);

const captain = { ...BUILT_IN_PLANS.captain, requestsPerMinute: 100_000, requestsPerDay: 100_000 };
const starter = { ...BUILT_IN_PLANS.starter, auditExport: true };
const plane = await stopAfterAll(
  startControlPlane({ overrides: { clock }, plans: { ...BUILT_IN_PLANS, captain, starter } }),
);
const agent = await attachScripted(plane, helloOf("eu-a"));
const ours = await createAccount(plane, "captain", { name: "deploy" });
const theirs = await createAccount(plane);
const { secret } = await revealSecret(plane, { account_id: ours.id });
afterAll(async () => {
  agent.cut();
});

async function create(path: string, body: object, key = ours.key): Promise<number> {
  const made = await plane.call(`/api/v4/${path}`, { key, body });
  expect(made.status, made.text).toBe(201);
  return (made.body.data as { id: number }).id;
}

const createMonitor = (name: string, more: object = {}, key = ours.key) =>
  create("monitors", { name, url: "https://shop.example.com/", locations: ["eu-a"], is_active: false, ...more }, key);

const errorOf = ({ status, body }: Answer) => [status, body.error["code"], body.error["field"], body.error["reason"]];
const warningsOf = ({ body }: Answer) =>
  ((body.meta["warnings"] ?? []) as readonly { parameter: string }[]).map(({ parameter }) => parameter);

describe("type=monitor", () => {
  it("has record, changes of status, incidents and figures of 30 days, and is signed", async () => {
    const id = await createMonitor("Shop", { tags: ["prod"] });
    clock.advance(60 * MINUTE_MS);
    for (const [minutes, status] of [
      [10, 1],
      [40, 2],
      [50, 1],
    ] as const) {
      await plane.app.sql`
        insert into monitor_status_changes (monitor_id, at, status) values (${id}, ${timeAt(minutes)}, ${status})`;
    }
    await create("incidents", { title: "Shop is slow", text: "We look into it.", monitor_ids: [id] });
    const { data, sig } = await exportAudit(plane, ours.key, `type=monitor&id=${id}`);
    expect(isSignedWith({ data, sig }, secret)).toBe(true);
    expect(sig.ts).toBe(Math.floor(clock.now().getTime() / 1_000));
    expect(data).toMatchObject({
      type: "monitor",
      generated_at: clock.now().toISOString(),
      account_id: ours.id,
      subject: { id, name: "Shop", url: "https://shop.example.com/", check_type: "http" },
      monitor: { id, name: "Shop", tags: ["prod"], is_active: false, status: "unknown" },
      state_changes: [
        { at: timeAt(50), previous_status: "down", status: "up" },
        { at: timeAt(40), previous_status: "up", status: "down" },
        { at: timeAt(10), previous_status: "unknown", status: "up" },
      ],
      incidents: [{ title: "Shop is slow", status: "investigating", monitor_ids: [id] }],
      totals: { state_changes: 3, incidents: 1 },
    });
    const days = data["days"] as readonly Record<string, unknown>[];
    expect(days).toHaveLength(30);
    const names = days.map(({ day }) => String(day));
    expect(names).toEqual(names.toSorted((a, b) => a.localeCompare(b)));
    expect(days[0]).toMatchObject({ day: dayAt(-29), uptime: null, up_ms: 0, down_ms: 0, unknown_ms: 0 });
    expect(days.at(-1)).toEqual({
      day: dayAt(0),
      uptime: 80,
      up_ms: 40 * MINUTE_MS,
      down_ms: 10 * MINUTE_MS,
      unknown_ms: 10 * MINUTE_MS - 250,
      maintenance_ms: 0,
      checks: { up: 0, down: 0, unknown: 0 },
    });
  });

  it("has neither request headers and body nor anything else that can be secret", async () => {
    const id = await createMonitor("Private", {
      method: "POST",
      request_headers: { Authorization: "Bearer s3cret-header" },
      body: "s3cret-body",
    });
    const beat = await create("monitors", { name: "Backup", check_type: "heartbeat" });
    const read = await plane.call(`/api/v4/monitors?id=${beat}`, { key: ours.key });
    const address = new URL(read.body.data["heartbeat_url"]).pathname;
    await plane.call(address, { method: "POST", body: "s3cret-ping", headers: { "content-type": "text/plain" } });
    const headers = await exportAudit(plane, ours.key, `type=monitor&id=${id}`);
    const heartbeat = await exportAudit(plane, ours.key, `type=monitor&id=${beat}`);
    const tenant = await exportAudit(plane, ours.key, "type=tenant&per_page=200");
    expect(heartbeat.data).toMatchObject({ monitor: { heartbeat: { last_kind: "success" }, heartbeat_url: null } });
    for (const monitor of [headers.data["monitor"], ...(tenant.data["monitors"] as readonly object[])]) {
      expect(monitor).not.toHaveProperty("request_headers");
      expect(monitor).not.toHaveProperty("body");
    }
    const token = address.split("/").at(-1) ?? "";
    for (const { data } of [headers, heartbeat, tenant]) {
      const text = JSON.stringify(data);
      for (const word of ["s3cret", token, ours.key, secret]) expect(text).not.toContain(word);
    }
  });
});

describe("type=check", () => {
  const CALL = "/api/v4/ping?host=127.0.0.1&action=ports&ports=443&share=1&locations=eu-a";

  /** Has the agent answer a shared call. Returns its share_id. */
  async function share(outcome = portsOutcome()): Promise<string> {
    const called = plane.call(CALL, { key: ours.key });
    const job = await agent.nextJob();
    agent.accept(job);
    agent.answer(job, outcome);
    return (await called).body.meta["share_id"];
  }

  it("has the shared result as its public page has it, and is signed", async () => {
    const shareId = await share();
    const { data, sig } = await exportAudit(plane, ours.key, `type=check&id=${shareId}`);
    expect(isSignedWith({ data, sig }, secret)).toBe(true);
    const page = await plane.call(`/s/${shareId}?format=json`);
    expect(data).toMatchObject({
      type: "check",
      account_id: ours.id,
      subject: { id: shareId, tool: "ping", target: "127.0.0.1" },
    });
    expect(data["check"]).toEqual(page.body.data);
  });

  it("signs what it sends where a target has sent half of a surrogate pair", async () => {
    const shareId = await share(portsOutcome("a\ud83d", "\ude00b"));
    const answer = await callExport(plane, ours.key, `type=check&id=${shareId}`);
    expect(isSignedWith(answer.body.data as SignedAnswer, secret)).toBe(true);
    expect(answer.text).toContain('"host":"a\ufffd"');
  });

  it("is there for the account that shared it, until it expires", async () => {
    const shareId = await share();
    const foreign = await callExport(plane, theirs.key, `type=check&id=${shareId}`);
    const absent = await callExport(plane, theirs.key, "type=check&id=nothing-of-this-name");
    expect(errorOf(foreign).slice(0, 2)).toEqual([404, "not_found"]);
    expect(foreign.body.error).toEqual(absent.body.error);
    clock.advance(7 * 24 * 60 * MINUTE_MS + 1_000);
    expect((await callExport(plane, ours.key, `type=check&id=${shareId}`)).status).toBe(404);
  });
});

describe("type=tenant", () => {
  const LISTS = ["monitors", "webhooks", "keys", "status_pages", "changes"] as const;

  it("runs in pages through all rows of the inventory, each of them signed", async () => {
    const own = await createAccount(plane, "captain", { name: "first" });
    const { secret: ownSecret } = await revealSecret(plane, { key: own.key });
    for (const name of ["one", "two", "three"]) await createMonitor(name, {}, own.key);
    for (const slug of ["audit-one", "audit-two"]) await create("status", { title: slug, slug }, own.key);
    const slack = "https://hooks.slack.example/services/T0/B0/path-secret?token=query-secret";
    await create("webhooks", { name: "chat", url: slack, format: "slack" }, own.key);
    await create("webhooks", { name: "own", url: "https://hooks.example.com/a?b=query-secret" }, own.key);
    await plane.operate("POST", "/api/admin/keys", { account_id: own.id, scopes: ["dns", "check"] });
    const found = Object.fromEntries(LISTS.map((name) => [name, [] as Record<string, unknown>[]]));
    let pages = 1;
    for (let page = 1; page <= pages; page += 1) {
      const answer = await exportAudit(plane, own.key, `type=tenant&per_page=4&page=${page}`);
      expect(isSignedWith(answer, ownSecret)).toBe(true);
      const { data } = answer;
      const pagination = data["pagination"] as { total: number; page: number; per_page: number; pages: number };
      // 3 monitors, 2 webhooks, 2 keys, 2 pages; these, an account and a secret were created.
      expect(pagination).toEqual({ total: 20, page, per_page: 4, pages: 5 });
      pages = pagination.pages;
      for (const name of LISTS) found[name]?.push(...(data[name] as Record<string, unknown>[]));
    }
    const namesIn = (list: string, field: string) => found[list]?.map((row) => row[field]);
    expect(namesIn("monitors", "name")).toEqual(["three", "two", "one"]);
    expect(found["webhooks"]).toMatchObject([
      { name: "own", url: "https://hooks.example.com/a?****", events: expect.arrayContaining(["monitor.down"]) },
      { name: "chat", url: "https://hooks.slack.example/****", format: "slack" },
    ]);
    expect(found["webhooks"]?.some((webhook) => "secret" in webhook)).toBe(false);
    expect(found["keys"]).toMatchObject([
      { name: null, scopes: ["check", "dns"] },
      { name: "first", prefix: own.key.slice(0, 8) },
    ]);
    expect(namesIn("status_pages", "slug")).toEqual(["audit-two", "audit-one"]);
    const logged = await plane.call("/api/v4/changes?per_page=100", { key: own.key });
    expect(found["changes"]).toEqual(logged.body.data);
    expect(found["changes"]).toHaveLength(11);
    const beyond = await exportAudit(plane, own.key, "type=tenant&per_page=4&page=6");
    expect(LISTS.map((name) => beyond.data[name])).toEqual([[], [], [], [], []]);
  });

  it("has what the subject is, and as many rows as asked for, also more than one read of monitors has", async () => {
    const own = await createAccount(plane);
    await plane.operate("PUT", `/api/admin/accounts?id=${own.id}`, { email: "audit@example.com" });
    const monitors = Array.from({ length: 150 }, (_, n) => ({ name: `Beat ${n}`, check_type: "heartbeat" }));
    const imported = await plane.call("/api/v4/monitors?action=import", {
      key: own.key,
      body: { version: 1, monitors },
    });
    expect(imported.status, imported.text).toBe(201);
    const { data } = await exportAudit(plane, own.key, "type=tenant&per_page=200");
    expect(data).toMatchObject({
      type: "tenant",
      subject: { id: own.id, plan: "captain", email: "audit@example.com" },
      pagination: { page: 1, per_page: 200 },
    });
    expect((data["monitors"] as readonly { name: string }[]).map(({ name }) => name)).toEqual(
      monitors.map(({ name }) => name).toReversed(),
    );
    const usual = await exportAudit(plane, own.key, "type=tenant");
    expect(usual.data).toMatchObject({ pagination: { page: 1, per_page: 25 } });
    expect(usual.data["monitors"]).toHaveLength(25);
  });
});

describe("a refusal", () => {
  it("is plan_restricted for plans without audit exports, before the parameters are read", async () => {
    for (const plan of ["free", "pro", "business"] as const) {
      const { key } = await createAccount(plane, plan);
      const refused = await callExport(plane, key, "type=nonsense");
      expect(errorOf(refused).slice(0, 2)).toEqual([403, "plan_restricted"]);
      expect(refused.body.error["message"]).toBe(`The ${plan} plan does not include audit exports.`);
    }
    // As the operator has overridden it.
    const { key } = await createAccount(plane, "starter");
    expect((await callExport(plane, key, "type=tenant")).status).toBe(200);
  });

  it("is insufficient_scope for a key without check, whatever its plan", async () => {
    for (const plan of ["captain", "pro"] as const) {
      const { key } = await createAccount(plane, plan, { scopes: ["dns", "monitors"] });
      expect(errorOf(await callExport(plane, key, "type=tenant")).slice(0, 2)).toEqual([403, "insufficient_scope"]);
    }
  });

  it.each([
    ["", "type", "required"],
    ["type=account", "type", "enum"],
    ["type=monitor", "id", "required"],
    ["type=monitor&id=", "id", "range"],
    ["type=monitor&id=abc", "id", "type"],
    ["type=monitor&id=0", "id", "range"],
    ["type=monitor&id=1&id=2", "id", "duplicate"],
    ["type=check", "id", "required"],
    ["type=check&id=a%00b", "id", "type"],
    ["type=tenant&page=0", "page", "range"],
    ["type=tenant&per_page=0", "per_page", "range"],
    ["type=tenant&per_page=201", "per_page", "range"],
    ["type=tenant&per_page=x", "per_page", "type"],
  ])("is missing_parameter for ?%s", async (query, field, reason) => {
    expect(errorOf(await callExport(plane, ours.key, query))).toEqual([400, "missing_parameter", field, reason]);
  });

  it("is 404 for another account's monitor, with the same bytes as for an absent one", async () => {
    const id = await createMonitor("Ours");
    const foreign = await callExport(plane, theirs.key, `type=monitor&id=${id}`);
    const absent = await callExport(plane, theirs.key, "type=monitor&id=999999");
    expect(errorOf(foreign).slice(0, 2)).toEqual([404, "not_found"]);
    expect(foreign.body.error).toEqual(absent.body.error);
    const tenant = await exportAudit(plane, theirs.key, "type=tenant&per_page=200");
    expect(tenant.data["monitors"]).toEqual([]);
    expect(tenant.data.account_id).toBe(theirs.id);
  });

  it("concerns keys, methods and versions as everywhere", async () => {
    const path = "/api/v4/audit-export?type=tenant";
    expect(errorOf(await plane.call(path)).slice(0, 2)).toEqual([401, "auth_required"]);
    const posted = await plane.call(path, { key: ours.key, method: "POST" });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET"]);
    expect((await plane.call("/api/v3/audit-export?type=tenant", { key: ours.key })).status).toBe(404);
    expect((await plane.call("/api/v4/audit-export.php?type=tenant", { key: ours.key })).status).toBe(200);
  });
});

it("parameters that a type does not have are ignored with a warning", async () => {
  const id = await createMonitor("Warned");
  expect(warningsOf(await callExport(plane, ours.key, `type=monitor&id=${id}&page=2&per_page=5`))).toEqual([
    "page",
    "per_page",
  ]);
  expect(warningsOf(await callExport(plane, ours.key, `type=tenant&id=${id}&idd=1`))).toEqual(["idd", "id"]);
  expect(warningsOf(await callExport(plane, ours.key, "type=tenant&page=1"))).toEqual([]);
});

it("an export counts against the limits like any request", async () => {
  const remaining = async () =>
    Number((await callExport(plane, ours.key, "type=tenant")).headers.get("x-ratelimit-remaining"));
  expect((await remaining()) - (await remaining())).toBe(1);
});
