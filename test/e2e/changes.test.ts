import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createAccount, type TestAccount } from "#test/support/audit.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { attachScripted, helloOf, type ScriptedAgent } from "#test/support/scripted-agent.ts";
import { createAccountKey } from "#test/support/dashboard.ts";
import { listChanges, type LoggedChange } from "#test/support/list-changes.ts";

let plane: TestControlPlane;
let agent: ScriptedAgent;
let account: TestAccount;

beforeAll(async () => {
  plane = await startControlPlane();
  account = await createAccount(plane, "captain", { name: "deploy" });
});
afterAll(async () => plane?.stop());

// This agent sends nothing after its hello, so a later test could find it offline.
beforeEach(async () => {
  agent = await attachScripted(plane, helloOf("eu-a"));
});
afterEach(() => agent?.cut());

const changesOf = ({ key }: TestAccount) => listChanges(plane, key);

/** Returns what was logged while `work` ran, oldest first, as "kind id name: action fields". */
async function loggedBy(work: () => Promise<unknown>, owner = account): Promise<readonly string[]> {
  const before = (await changesOf(owner)).length;
  await work();
  const added = (await changesOf(owner)).slice(0, -before || undefined).toReversed();
  return added.map(({ subject: { kind, id, name }, action, changed }) => {
    return `${kind} ${id} ${name}: ${action} ${changed.map(({ field }) => field).join(",")}`.trim();
  });
}

/** Sends a write that must succeed; returns the id in its answer. */
async function write(
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<number> {
  const sent = body === undefined ? {} : { body };
  const answer = await plane.call(`/api/${path}`, { method, key: account.key, headers, ...sent });
  expect(answer.status, answer.text).toBeLessThan(300);
  return (answer.body.data as { id: number }).id;
}

const MONITOR = { name: "Shop", url: "https://shop.example.com/", locations: ["eu-a"], is_active: false };

describe("the log of changes", () => {
  it("says who changed what, when and from which address", async () => {
    const before = Date.now();
    const id = await write("POST", "v4/monitors", { ...MONITOR, request_headers: { Authorization: "Bearer s3cret" } });
    const [newest] = await changesOf(account);
    expect(newest).toEqual({
      id: expect.any(Number),
      at: expect.any(String),
      actor: { kind: "key", id: expect.any(Number), name: "deploy" },
      address: "127.0.0.1",
      action: "created",
      subject: { kind: "monitor", id, name: "Shop" },
      changed: [],
    });
    // By the clock of the database.
    expect(Date.parse(newest?.at ?? "")).toBeGreaterThan(before - 1_000);
    expect(Date.parse(newest?.at ?? "")).toBeLessThan(Date.now() + 1_000);
    expect(JSON.stringify(await changesOf(account))).not.toContain("s3cret");
  });

  it("has every change of monitors, incidents, maintenance and status pages", async () => {
    const id = await write("POST", "v4/monitors", MONITOR);
    const beat = await write("POST", "v4/monitors", { check_type: "heartbeat", name: "Backup" });
    let [incident, window, page, old] = [0, 0, 0, 0];
    const logged = await loggedBy(async () => {
      await write("PUT", `v4/monitors?id=${id}`, { interval_minutes: 15, is_active: false });
      await write("POST", `v4/monitors?id=${beat}&action=rotate`);
      incident = await write("POST", "v4/incidents", { title: "Slow", text: "We look.", monitor_ids: [id] });
      await write("PUT", `v4/incidents?id=${incident}`, { acknowledged: true });
      const times = { starts_at: "2030-01-06T02:00:00Z", ends_at: "2030-01-06T03:00:00Z" };
      window = await write("POST", "v4/maintenance", { title: "Updates", monitor_ids: [id], ...times });
      await write("PUT", `v4/maintenance?id=${window}`, { title: "Upgrade" });
      await write("DELETE", `v4/maintenance?id=${window}`);
      page = await write("POST", "v4/status", { title: "Shop", slug: "changes-shop" });
      await write("PUT", `v4/status?id=${page}`, { title: "Our shop" });
      await write("DELETE", `v4/status?id=${page}`);
      await write("DELETE", `v4/monitors?id=${id}`);
      old = await write("POST", "v3/monitors", { check_type: "ping", url: "a.example.com", is_active: false });
      await write("PUT", `v3/monitors?id=${old}`, { interval_minutes: 10, api_key: account.key });
      await write("DELETE", `v3/monitors?id=${old}`);
    });
    expect(logged).toEqual([
      `monitor ${id} Shop: changed interval_minutes`,
      `monitor ${beat} Backup: rotated heartbeat_url`,
      `incident ${incident} Slow: created`,
      `incident ${incident} Slow: changed acknowledged`,
      `maintenance ${window} Updates: created`,
      `maintenance ${window} Upgrade: changed title`,
      `maintenance ${window} Upgrade: deleted`,
      `status_page ${page} changes-shop: created`,
      `status_page ${page} changes-shop: changed title`,
      `status_page ${page} changes-shop: deleted`,
      `monitor ${id} Shop: deleted`,
      `monitor ${old} a.example.com: created`,
      `monitor ${old} a.example.com: changed interval_minutes`,
      `monitor ${old} a.example.com: deleted`,
    ]);
  });

  it("has every change of webhooks, but no test, replay or recovery", async () => {
    let hook = 0;
    const logged = await loggedBy(async () => {
      const url = "https://hooks.example.com/secret-path";
      hook = await write("POST", "v4/webhooks", { name: "Hook", url, secret: "secret-value", is_active: false });
      await write("PUT", `v4/webhooks?id=${hook}`, { headers: { "X-Team": "secret-value" } });
      await write("POST", `v4/webhooks?action=rotate&id=${hook}`);
      await write("POST", `v4/webhooks?action=recover&id=${hook}`);
      await write("DELETE", `v4/webhooks?id=${hook}`);
    });
    expect(logged).toEqual([
      `webhook ${hook} Hook: created`,
      `webhook ${hook} Hook: changed headers.X-Team`,
      `webhook ${hook} Hook: rotated secret`,
      `webhook ${hook} Hook: deleted`,
    ]);
  });

  it("has each monitor of an import, and nothing of a dry run, a check now, a batch, a refused write or one that changes nothing", async () => {
    const rows = [
      { name: "a", check_type: "heartbeat" },
      { name: "b", check_type: "heartbeat" },
    ];
    const document = { version: 1, monitors: rows };
    const active = await write("POST", "v4/monitors", { ...MONITOR, is_active: true });
    const logged = await loggedBy(async () => {
      await write("POST", "v4/monitors?action=import&dry_run=1", document);
      await write("POST", `v4/monitors?id=${active}&action=run`);
      await write("PUT", `v4/monitors?id=${active}`, { name: MONITOR.name });
      await write("POST", "v4/batch", { urls: ["https://www.example.com/"] });
      for (const [method, path, body] of [
        ["POST", "monitors", { ...MONITOR, interval_minutes: 0 }],
        ["PUT", "monitors?id=999999", { name: "x" }],
        ["DELETE", "status?id=999999", undefined],
      ] as const) {
        const refused = await plane.call(`/api/v4/${path}`, {
          method,
          key: account.key,
          ...(body === undefined ? {} : { body }),
        });
        expect(refused.status).toBeGreaterThanOrEqual(400);
      }
    });
    expect(logged).toEqual([]);
    const imported = await loggedBy(() => write("POST", "v4/monitors?action=import", document));
    expect(imported.map((line) => line.replace(/\d+/, "id"))).toEqual([
      "monitor id a: created",
      "monitor id b: created",
    ]);
  });

  it("has a write with an idempotency key once, however often it is sent", async () => {
    const repeated = { "x-idempotency-key": "changes-once" };
    const logged = await loggedBy(async () => {
      const first = await write("POST", "v4/monitors", MONITOR, repeated);
      expect(await write("POST", "v4/monitors", MONITOR, repeated)).toBe(first);
    });
    expect(logged).toHaveLength(1);
  });

  it("has what the operator does to the account and its keys, and names a key that is gone", async () => {
    const own = await createAccount(plane, "pro", { name: "first" });
    const made = await plane.operate("POST", "/api/admin/keys", { account_id: own.id });
    const spare = made.body.data as { id: number; key: string };
    const headers = { "x-api-key": spare.key };
    await plane.call("/api/v4/monitors", { headers, body: { check_type: "heartbeat", name: "Backup" } });
    await plane.operate("DELETE", `/api/admin/keys?id=${spare.id}`);
    await plane.operate("PUT", `/api/admin/accounts?id=${own.id}`, { plan: "business", email: "changed@example.com" });
    const logged = (await changesOf(own)).toReversed();
    const prefix = spare.key.slice(0, 8);
    expect(logged.map(({ actor, subject, action }) => [actor.kind, subject.kind, subject.name, action])).toEqual([
      ["operator", "account", null, "created"],
      ["operator", "key", "first", "created"],
      ["operator", "key", prefix, "created"],
      ["key", "monitor", "Backup", "created"],
      ["operator", "key", prefix, "deleted"],
      ["operator", "account", "changed@example.com", "changed"],
    ]);
    expect(logged[5]?.changed).toEqual([
      { field: "email", before: null, after: "changed@example.com" },
      { field: "plan", before: "pro", after: "business" },
    ]);
    expect(logged[3]?.actor).toEqual({ kind: "key", id: spare.id, name: prefix });
    expect(logged[0]?.actor).toEqual({ kind: "operator", id: null, name: null });
    const created = await plane.operate("POST", "/api/admin/accounts", { email: "changes@example.com", plan: "pro" });
    const { id } = created.body.data as { id: number };
    const first = await changesOf({ id, key: await createAccountKey(plane, id) });
    expect(first.map(({ subject, action }) => `${subject.kind} ${action}`)).toEqual(["key created", "account created"]);
  });
});

describe("GET /api/v4/changes", () => {
  it("lists the caller's own changes in pages, newest first, and needs the scope monitors", async () => {
    const ids = (await changesOf(account)).map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted((a, b) => b - a));
    const { body } = await plane.call("/api/v4/changes?per_page=2&page=2", { key: account.key });
    expect((body.data as readonly LoggedChange[]).map(({ id }) => id)).toEqual(ids.slice(2, 4));
    expect(body.meta["pagination"]).toMatchObject({ total: ids.length, page: 2, per_page: 2 });
    const other = await createAccount(plane, "pro");
    expect((await changesOf(other)).map(({ subject }) => subject.kind)).toEqual(["key", "account"]);
    const narrow = await createAccount(plane, "pro", { scopes: ["check"] });
    expect((await plane.call("/api/v4/changes", { key: narrow.key })).status).toBe(403);
  });

  it("selects by subject, actor and time, all of them together, in pages", async () => {
    const own = await createAccount(plane, "pro", { name: "first" });
    const ids: number[] = [];
    for (const name of ["a", "b", "c"]) {
      const made = await plane.call("/api/v4/monitors", { key: own.key, body: { check_type: "heartbeat", name } });
      ids.push((made.body.data as { id: number }).id);
    }
    const put = { method: "PUT", key: own.key, body: { name: "renamed" } };
    expect((await plane.call(`/api/v4/monitors?id=${ids[1]}`, put)).status).toBe(200);
    const all = await changesOf(own);
    const [newest] = all;
    const select = async (query: string) => {
      const { body, text } = await plane.call(`/api/v4/changes?${query}`, { key: own.key });
      const rows = body.data as readonly LoggedChange[];
      return { names: rows.map(({ subject }) => subject.name), total: body.meta["pagination"]?.["total"], text };
    };
    expect(await select("subject=monitor")).toMatchObject({ names: ["renamed", "c", "b", "a"], total: 4 });
    expect(await select(`subject=monitor:${ids[1]}`)).toMatchObject({ names: ["renamed", "b"], total: 2 });
    expect(await select("subject=webhook")).toMatchObject({ names: [], total: 0 });
    expect(await select("actor=operator")).toMatchObject({ names: ["first", null], total: 2 });
    expect(await select(`actor=key:${newest?.actor.id}&per_page=1&page=2`)).toMatchObject({ names: ["c"], total: 4 });
    expect(await select("actor=member")).toMatchObject({ total: 0 });
    const at = encodeURIComponent(newest?.at ?? "");
    expect(await select(`to=${at}`)).toMatchObject({ total: all.filter((one) => one.at < (newest?.at ?? "")).length });
    expect(await select(`from=${at}&subject=monitor:${ids[1]}`)).toMatchObject({ names: ["renamed"], total: 1 });
  });

  it.each([
    ["subject=page", "subject", "enum", "subject: must be account, audit_secret, incident"],
    ["subject=monitor:0", "subject", "enum", "or one of them with an id, such as account:1"],
    ["subject=monitor:1:2", "subject", "enum", "subject: must be"],
    ["subject=monitor:9007199254740992", "subject", "enum", "subject: must be"],
    ["actor=user", "actor", "enum", "actor: must be key, member, operator, system, or key or member with an id"],
    ["actor=operator:1", "actor", "enum", "actor: must be"],
    ["from=yesterday", "from", "type", "from: must be an ISO 8601 time"],
    ["to=2026-02-30T00:00:00Z", "to", "type", "to: must be an ISO 8601 time"],
    ["from=2026-02-01&to=2026-02-01", "from", "range", "from: must be before `to`"],
  ])("refuses %s and says what is allowed", async (query, field, reason, message) => {
    const { status, body } = await plane.call(`/api/v4/changes?${query}`, { key: account.key });
    expect([status, body.error]).toMatchObject([400, { code: "missing_parameter", field, reason }]);
    expect(JSON.stringify(body.error)).toContain(message);
  });
});
