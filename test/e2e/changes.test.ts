import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createAccount, type TestAccount } from "#test/support/audit.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { attachScripted, helloOf, type ScriptedAgent } from "#test/support/scripted-agent.ts";

interface Shown {
  readonly id: number;
  readonly at: string;
  readonly actor: { readonly type: string; readonly id: number | null; readonly name: string | null };
  readonly address: string;
  readonly resource: string;
  readonly resource_id: number | null;
  readonly action: string;
  readonly fields: readonly string[];
}

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

async function changesOf({ key }: TestAccount): Promise<readonly Shown[]> {
  const { body, status, text } = await plane.call("/api/v4/changes?per_page=100", { key });
  expect(status, text).toBe(200);
  return body.data;
}

/** Returns what was logged while `work` ran, oldest first, as "resource id action fields". */
async function loggedBy(work: () => Promise<unknown>, owner = account): Promise<readonly string[]> {
  const before = (await changesOf(owner)).length;
  await work();
  const added = (await changesOf(owner)).slice(0, -before || undefined).toReversed();
  return added.map(
    ({ resource, resource_id: id, action, fields }) => `${resource} ${id} ${action} ${fields.join(",")}`,
  );
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
  it("says who changed what, when and from which address, with names of fields and without values", async () => {
    const before = Date.now();
    const id = await write("POST", "v4/monitors", { ...MONITOR, request_headers: { Authorization: "Bearer s3cret" } });
    const [newest] = await changesOf(account);
    expect(newest).toMatchObject({
      actor: { type: "key", id: expect.any(Number), name: "deploy" },
      address: "127.0.0.1",
      resource: "monitor",
      resource_id: id,
      action: "created",
      fields: ["name", "url", "locations", "is_active", "request_headers"],
    });
    expect(Math.abs(new Date(newest?.at ?? 0).getTime() - before)).toBeLessThan(60_000);
    expect(JSON.stringify(await changesOf(account))).not.toContain("s3cret");
  });

  it("has every change of monitors, incidents, maintenance and status pages", async () => {
    const id = await write("POST", "v4/monitors", MONITOR);
    const beat = await write("POST", "v4/monitors", { check_type: "heartbeat", name: "Backup" });
    let [incident, window, page, old] = [0, 0, 0, 0];
    const logged = await loggedBy(async () => {
      await write("PUT", `v4/monitors?id=${id}`, { interval_minutes: 5, is_active: false });
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
      `monitor ${id} changed interval_minutes,is_active`,
      `monitor ${beat} rotated `,
      `incident ${incident} created title,text,monitor_ids`,
      `incident ${incident} changed acknowledged`,
      `maintenance ${window} created title,monitor_ids,starts_at,ends_at`,
      `maintenance ${window} changed title`,
      `maintenance ${window} deleted `,
      `status_page ${page} created title,slug`,
      `status_page ${page} changed title`,
      `status_page ${page} deleted `,
      `monitor ${id} deleted `,
      `monitor ${old} created check_type,url,is_active`,
      `monitor ${old} changed interval_minutes`,
      `monitor ${old} deleted `,
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
      `webhook ${hook} created name,url,secret,is_active`,
      `webhook ${hook} changed headers`,
      `webhook ${hook} rotated `,
      `webhook ${hook} deleted `,
    ]);
  });

  it("has each monitor of an import, and nothing of a dry run, a check now, a batch or a refused write", async () => {
    const rows = [
      { name: "a", check_type: "heartbeat" },
      { name: "b", check_type: "heartbeat" },
    ];
    const document = { version: 1, monitors: rows };
    const active = await write("POST", "v4/monitors", { ...MONITOR, is_active: true });
    const logged = await loggedBy(async () => {
      await write("POST", "v4/monitors?action=import&dry_run=1", document);
      await write("POST", `v4/monitors?id=${active}&action=run`);
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
      "monitor id created version,monitors",
      "monitor id created version,monitors",
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
    await plane.operate("PUT", `/api/admin/accounts?id=${own.id}`, { plan: "business" });
    const logged = (await changesOf(own)).toReversed();
    expect(
      logged.map(({ actor, resource, action, fields }) => [actor.type, resource, action, fields.join(",")]),
    ).toEqual([
      ["operator", "account", "created", "plan,name"],
      ["operator", "key", "created", "plan,name"],
      ["operator", "key", "created", "account_id"],
      ["key", "monitor", "created", "check_type,name"],
      ["operator", "key", "deleted", ""],
      ["operator", "account", "changed", "plan"],
    ]);
    expect(logged[3]?.actor).toEqual({ type: "key", id: spare.id, name: spare.key.slice(0, 8) });
    expect(logged[0]?.actor).toEqual({ type: "operator", id: null, name: null });
    const created = await plane.operate("POST", "/api/admin/accounts", { email: "changes@example.com", plan: "pro" });
    const { id } = created.body.data as { id: number };
    expect(await plane.app.sql`select action from account_changes where account_id = ${id}`).toEqual([
      { action: "created" },
    ]);
  });
});

describe("GET /api/v4/changes", () => {
  it("lists the caller's own changes in pages, newest first, and needs the scope monitors", async () => {
    const ids = (await changesOf(account)).map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted((a, b) => b - a));
    const { body } = await plane.call("/api/v4/changes?per_page=2&page=2", { key: account.key });
    expect((body.data as readonly Shown[]).map(({ id }) => id)).toEqual(ids.slice(2, 4));
    expect(body.meta["pagination"]).toMatchObject({ total: ids.length, page: 2, per_page: 2 });
    const other = await createAccount(plane, "pro");
    expect((await changesOf(other)).map(({ resource }) => resource)).toEqual(["key", "account"]);
    const narrow = await createAccount(plane, "pro", { scopes: ["check"] });
    expect((await plane.call("/api/v4/changes", { key: narrow.key })).status).toBe(403);
  });
});
