import { describe, expect, it } from "vitest";
import { createManualClock } from "#test/support/clock.ts";
import { ADMIN_TOKEN, call, callAdmin, startGate, type Answer } from "#test/support/gate.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const clock = createManualClock(new Date("2026-03-01T12:00:10.500Z"));

const database = await stopAfterAll(createTestDatabase());
const gate = await stopAfterAll(
  startGate({ databaseUrl: database.url, overrides: { clock }, trustedProxies: ["127.0.0.1"] }),
);

interface Key {
  id: number;
  account_id: number;
  key: string;
  plan: string;
  scopes: string[];
  name: string | null;
}
interface Account {
  id: number;
  email: string | null;
  plan: string;
}

const dataOf = ({ body }: Answer) => body.data as unknown;
const keyIn = (answer: Answer) => dataOf(answer) as Key;
const keysIn = (answer: Answer) => dataOf(answer) as Key[];
const accountIn = (answer: Answer) => dataOf(answer) as Account;
const errorOf = ({ status, body }: Answer) => [status, body.error?.code, body.error?.["field"], body.error?.["reason"]];
const admin = (method: string, path: string, json?: unknown) => callAdmin(gate, method, path, json);
const whoami = (key: string) => call(`${gate.url}/api/v4/whoami`, { key });

async function makeAccount(plan: string, email = `${crypto.randomUUID()}@example.com`): Promise<Account> {
  return accountIn(await admin("POST", "/accounts", { email, plan }));
}

describe("the operator", () => {
  it("is identified by the whole token", async () => {
    const codeWith = async (authorization?: string) => {
      const headers = authorization === undefined ? {} : { authorization };
      const { status, body, headers: answered } = await call(`${gate.url}/api/admin/keys`, { headers });
      return [status, body.error?.code, answered.get("www-authenticate")];
    };
    expect(await codeWith()).toEqual([401, "auth_required", "Bearer"]);
    expect(await codeWith(`Basic ${ADMIN_TOKEN}`)).toEqual([401, "auth_required", "Bearer"]);
    for (const wrong of [`${ADMIN_TOKEN}x`, ADMIN_TOKEN.slice(0, -1), "x"]) {
      expect(await codeWith(`Bearer ${wrong}`)).toEqual([401, "invalid_api_key", "Bearer"]);
    }
    expect(await codeWith(`bearer ${ADMIN_TOKEN}`)).toEqual([200, undefined, null]);
    expect((await call(`${gate.url}/api/admin/nope`)).status).toBe(404);
    expect((await call(`${gate.url}/api/admin/keys`, { method: "PUT" })).headers.get("allow")).toBe(
      "DELETE, GET, POST",
    );
  });

  it("is not locked out: 30 failures in a minute block an address, but not the right token", async () => {
    const from = { "x-forwarded-for": "198.51.100.9" };
    const ask = (token?: string) =>
      call(`${gate.url}/api/admin/keys`, {
        headers: { ...from, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      });
    for (let at = 0; at < 30; at += 1) expect((await ask(`wrong-${at}`)).status).toBe(401);
    for (const token of ["wrong", `${ADMIN_TOKEN}x`, undefined]) {
      const refused = await ask(token);
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "50"]);
    }
    for (let at = 0; at < 3; at += 1) expect((await ask(ADMIN_TOKEN)).status).toBe(200);
    expect((await ask("wrong")).status).toBe(429);
    clock.advance(60_000);
    expect((await ask("wrong")).status).toBe(401);
  });
});

describe("keys", () => {
  it("are created with a new account and shown in plain text once", async () => {
    const made = await admin("POST", "/keys", { plan: "pro", name: "ci" });
    expect(made.status).toBe(201);
    const { id, account_id: accountId, key, ...rest } = keyIn(made);
    expect(rest).toEqual({
      plan: "pro",
      name: "ci",
      scopes: ["check", "dns", "ssl", "ip", "ping", "monitors", "webhook"],
    });
    expect((await whoami(key)).body.data).toMatchObject({ account_id: accountId, plan: "pro" });
    const listed = await admin("GET", `/keys?account_id=${accountId}`);
    expect(keysIn(listed)).toEqual([
      { ...rest, id, account_id: accountId, prefix: key.slice(0, 8), created_at: clock.now().toISOString() },
    ]);
    expect(JSON.stringify(listed.body)).not.toContain(key);
    expect(dataOf(await admin("GET", `/keys?id=${id}`))).toMatchObject({ id });
    expect(keyIn(await admin("POST", "/keys")).plan).toBe("free");
  });

  it("can have fewer scopes than the plan, never more", async () => {
    const narrow = keyIn(await admin("POST", "/keys", { plan: "pro", scopes: ["webhook", "dns"] }));
    expect(narrow.scopes).toEqual(["dns", "webhook"]);
    expect((await whoami(narrow.key)).status).toBe(403);
    const refusals = [
      [{ plan: "free", scopes: ["check", "monitors"] }, "enum"],
      [{ plan: "pro", scopes: ["everything"] }, "enum"],
      [{ scopes: [] }, "range"],
      [{ scopes: "check" }, "type"],
    ] as const;
    for (const [body, reason] of refusals) {
      expect(errorOf(await admin("POST", "/keys", body))).toEqual([400, "missing_parameter", "scopes", reason]);
    }
  });

  it.each([
    [{ plan: "gold" }, "plan", "enum"],
    [{ plan: "Pro" }, "plan", "enum"],
    [{ plan: 5 }, "plan", "type"],
    [{ account_id: "x" }, "account_id", "type"],
    [{ account_id: 0 }, "account_id", "range"],
    [{ name: "" }, "name", "range"],
    [{ nam: "x" }, "nam", "unknown"],
  ])("refuse a body like %j, naming the field", async (body, field, reason) => {
    expect(errorOf(await admin("POST", "/keys", body))).toEqual([400, "missing_parameter", field, reason]);
  });

  it("need an existing account and its plan", async () => {
    const { id } = await makeAccount("starter");
    expect(errorOf(await admin("POST", "/keys", { account_id: 999_999 }))[0]).toBe(404);
    expect(errorOf(await admin("POST", "/keys", { account_id: id, plan: "pro" }))).toEqual([
      400,
      "missing_parameter",
      "plan",
      "enum",
    ]);
    expect(keyIn(await admin("POST", "/keys", { account_id: id, plan: "starter" })).account_id).toBe(id);
  });

  it("are limited exactly to the number of the plan, even if all are created at the same time", async () => {
    const { id } = await makeAccount("free");
    const made = await Promise.all(Array.from({ length: 12 }, () => admin("POST", "/keys", { account_id: id })));
    expect(made.filter(({ status }) => status === 201).length).toBe(5);
    for (const answer of made.filter(({ status }) => status !== 201)) {
      expect(errorOf(answer).slice(0, 2)).toEqual([403, "plan_limit_exceeded"]);
    }
    const [first] = keysIn(await admin("GET", `/keys?account_id=${id}`));
    expect((await admin("DELETE", `/keys?id=${first?.id}`)).body.data).toEqual({ id: first?.id, deleted: true });
    expect(errorOf(await admin("DELETE", `/keys?id=${first?.id}`)).slice(0, 2)).toEqual([404, "not_found"]);
    expect((await admin("POST", "/keys", { account_id: id })).status).toBe(201);
    expect((await admin("POST", "/keys", { account_id: id })).status).toBe(403);
  });

  it("are listed newest first, in pages", async () => {
    const { id } = await makeAccount("business");
    for (let at = 0; at < 5; at += 1) await admin("POST", "/keys", { account_id: id, name: `key ${at}` });
    const page = await admin("GET", `/keys?account_id=${id}&per_page=2&page=2`);
    expect(keysIn(page).map(({ name }) => name)).toEqual(["key 2", "key 1"]);
    expect(page.body.meta?.["pagination"]).toEqual({ total: 5, page: 2, per_page: 2, pages: 3 });
    expect(errorOf(await admin("GET", "/keys?per_page=101"))).toEqual([400, "missing_parameter", "per_page", "range"]);
    expect(errorOf(await admin("GET", "/keys?page=0"))[2]).toBe("page");
    expect(errorOf(await admin("DELETE", "/keys"))).toEqual([400, "missing_parameter", "id", "required"]);
    expect(errorOf(await admin("DELETE", "/keys?id=abc"))).toEqual([400, "missing_parameter", "id", "type"]);
  });
});

describe("accounts", () => {
  it("are created, read, changed and listed", async () => {
    const made = await admin("POST", "/accounts", { email: "Ann@Example.com", plan: "pro", id: 7 });
    expect(made.status).toBe(201);
    const account = accountIn(made);
    expect(account).toEqual({
      id: account.id,
      email: "Ann@Example.com",
      plan: "pro",
      created_at: clock.now().toISOString(),
    });
    expect(dataOf(await admin("GET", `/accounts?id=${account.id}`))).toEqual(account);
    expect(dataOf(await admin("PUT", `/accounts?id=${account.id}`, { plan: "business" }))).toEqual({
      ...account,
      plan: "business",
    });
    const listed = await admin("GET", "/accounts?per_page=1");
    expect((dataOf(listed) as Account[])[0]?.id).toBe(account.id);
    expect(errorOf(await admin("GET", "/accounts?id=999999"))[0]).toBe(404);
    expect(errorOf(await admin("PUT", "/accounts?id=999999", {}))[0]).toBe(404);
  });

  it("have unique email addresses, regardless of upper and lower case", async () => {
    const { id } = await makeAccount("pro", "bob@example.com");
    const taken = [400, "missing_parameter", "email", "duplicate"];
    expect(errorOf(await admin("POST", "/accounts", { email: "BOB@example.com" }))).toEqual(taken);
    const other = await makeAccount("pro");
    expect(errorOf(await admin("PUT", `/accounts?id=${other.id}`, { email: "Bob@example.com" }))).toEqual(taken);
    expect((await admin("PUT", `/accounts?id=${id}`, { email: "Bob@example.com" })).status).toBe(200);
    for (const email of [
      "",
      "x",
      "a b@c",
      "a@b@c",
      "@x.y",
      "a..b@c.example",
      "a@-c.example",
      `${"x".repeat(250)}@example.com`,
    ]) {
      expect(errorOf(await admin("POST", "/accounts", { email })).slice(0, 3)).toEqual([
        400,
        "missing_parameter",
        "email",
      ]);
    }
  });

  it("change the plan of their keys immediately, up and down", async () => {
    const { id } = await makeAccount("free");
    const { key } = keyIn(await admin("POST", "/keys", { account_id: id }));
    expect((await whoami(key)).body.data).toMatchObject({ plan: "free", scopes: ["check", "dns"] });
    await admin("PUT", `/accounts?id=${id}`, { plan: "captain" });
    expect((await whoami(key)).headers.get("x-ratelimit-limit")).toBe("240");
    expect(((await whoami(key)).body.data as unknown as Key).scopes.length).toBe(7);
    await admin("PUT", `/accounts?id=${id}`, { plan: "free" });
    expect((await whoami(key)).headers.get("x-ratelimit-limit")).toBe("10");
  });

  it("are erased with their keys, and exported first if requested", async () => {
    const { id, email } = await makeAccount("pro");
    const { key } = keyIn(await admin("POST", "/keys", { account_id: id, name: "mine" }));
    expect((await whoami(key)).status).toBe(200);
    const erased = dataOf(await admin("DELETE", `/accounts?id=${id}&export=1`)) as {
      deleted: boolean;
      export: { account: Account; keys: Key[] };
    };
    expect(erased.deleted).toBe(true);
    expect(erased.export.account).toMatchObject({ id, email, plan: "pro" });
    expect(erased.export.keys).toMatchObject([{ name: "mine", prefix: key.slice(0, 8) }]);
    expect(JSON.stringify(erased)).not.toContain(key);
    expect((await whoami(key)).status).toBe(401);
    expect(await gate.app.sql`select 1 from request_counts where account_id = ${id}`).toEqual([]);
    expect(errorOf(await admin("DELETE", `/accounts?id=${id}`))[0]).toBe(404);
    const { id: second } = await makeAccount("pro");
    expect((await admin("DELETE", `/accounts?id=${second}`)).body.data).toEqual({ id: second, deleted: true });
  });
});
