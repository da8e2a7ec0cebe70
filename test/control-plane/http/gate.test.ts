import { beforeEach, describe, expect, it } from "vitest";
import { createKey } from "#control-plane/accounts/keys/format.ts";
import { createManualClock, systemRandom } from "#test/support/clock.ts";
import { call, callAdmin, makeTestKey, startGate } from "#test/support/gate.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const clock = createManualClock(new Date("2026-03-01T12:00:10.500Z"));

const database = await stopAfterAll(createTestDatabase());
const gate = await stopAfterAll(
  startGate({ databaseUrl: database.url, overrides: { clock }, trustedProxies: ["127.0.0.1"] }),
);

// Every test has a separate minute.
beforeEach(() => clock.advance(60_000));

const path = (version: string, name = "whoami") => `${gate.url}/api/${version}/${name}`;

describe("the key", () => {
  it("is read from X-API-Key, else from Authorization: Bearer, in every version", async () => {
    const key = await makeTestKey(gate, { plan: "pro" });
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    for (const version of ["v1", "v2", "v3", "v4"]) {
      expect((await call(path(version), { key })).status).toBe(200);
      expect((await call(path(version), { headers: bearer(key) })).status).toBe(200);
      expect((await call(path(version), { headers: { authorization: `bearer  ${key}` } })).status).toBe(200);
      expect((await call(path(version), { key, headers: bearer("nonsense") })).status).toBe(200);
      expect((await call(path(version), { key: "nonsense", headers: bearer(key) })).status).toBe(401);
      expect((await call(path(version), { key: "", headers: bearer(key) })).status).toBe(200);
      expect((await call(path(version), { headers: { authorization: `Basic ${key}` } })).status).toBe(401);
    }
  });

  it("can be sent in two ways, and every 401 names both and the scheme", async () => {
    for (const version of ["v3", "v4"]) {
      for (const wrong of [{}, { key: "nonsense" }, { headers: { authorization: "Bearer nonsense" } }]) {
        const { status, headers, body } = await call(path(version), wrong);
        expect([status, headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
        if (!("key" in wrong) && !("headers" in wrong)) {
          expect(body.error?.message).toMatch(/X-API-Key header or as Authorization: Bearer/);
        }
      }
    }
    const later = await call(path("v3"), { method: "POST", body: new URLSearchParams({ api_key: "nonsense" }) });
    expect([later.status, later.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
  });

  it("is also read from the api_key of query, form and JSON body before v4, where it is not a parameter", async () => {
    const key = await makeTestKey(gate);
    expect((await call(path("v3", `echo?a=1&api_key=${key}`))).body.data).toEqual({ values: { a: "1" }, from: "text" });
    const form = await call(path("v3", "echo"), {
      method: "POST",
      body: new URLSearchParams({ api_key: key, a: "1" }),
    });
    expect(form.body.data).toEqual({ values: { a: "1" }, from: "text" });
    const json = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: `{"api_key":"${key}","a":1}`,
    };
    expect((await call(path("v3", "write"), json)).body.data).toEqual({ a: 1 });
    expect((await call(path("v2", "write"), json)).status).toBe(200);
    expect((await call(path("v4", "write"), json)).body.error?.code).toBe("auth_required");
    expect((await call(path("v4", `whoami?api_key=${key}`))).body.error?.code).toBe("auth_required");
  });

  it("that is missing, mistyped or unknown is one of two kinds of 401", async () => {
    const codeOf = async (key?: string) => {
      const { status, body } = await call(path("v4"), key === undefined ? {} : { key });
      return [status, body.error?.code];
    };
    expect(await codeOf()).toEqual([401, "auth_required"]);
    expect(await codeOf("")).toEqual([401, "auth_required"]);
    expect(await codeOf("vtg_short")).toEqual([401, "invalid_api_key"]);
    expect(await codeOf(createKey(systemRandom))).toEqual([401, "invalid_api_key"]);
  });

  it("is refused immediately after it is revoked, on every replica", async () => {
    const other = await startGate({ databaseUrl: database.url, overrides: { clock } });
    const key = await makeTestKey(gate);
    const [row] = (await callAdmin(gate, "GET", "/keys")).body.data as unknown as { id: number }[];
    expect((await call(path("v4"), { key })).status).toBe(200);
    expect((await call(`${other.url}/api/v4/whoami`, { key })).status).toBe(200);
    expect((await callAdmin(gate, "DELETE", `/keys?id=${row?.id}`)).status).toBe(200);
    expect((await call(path("v4"), { key })).status).toBe(401);
    // The clock does not move, so only the notification can make the other replica forget the key.
    await expect.poll(async () => (await call(`${other.url}/api/v4/whoami`, { key })).status).toBe(401);
    await other.close();
  });

  it("that is missing or wrong is limited per client address, and a valid one still passes", async () => {
    const key = await makeTestKey(gate);
    const from = { "x-forwarded-for": "198.51.100.7" };
    const statuses: number[] = [];
    for (let at = 0; at < 31; at += 1) {
      const wrong = at % 2 === 0 ? {} : { "x-api-key": "nonsense" };
      statuses.push((await call(path("v4"), { headers: { ...from, ...wrong } })).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 30 }, () => 401), 429]);
    const refused = await call(path("v4"), { headers: from });
    expect(refused.body.error?.code).toBe("rate_limit_exceeded");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    // Unknown keys of the right form are looked up and refused; they lock out no client either.
    const made = await Promise.all(
      Array.from({ length: 40 }, () => call(path("v4"), { key: createKey(systemRandom), headers: from })),
    );
    expect(new Set(made.map(({ status }) => status))).toEqual(new Set([429]));
    expect((await call(path("v4"), { key, headers: from })).status).toBe(200);
    expect((await call(path("v4"), { headers: { ...from, authorization: `Bearer ${key}` } })).status).toBe(200);
    expect((await call(path("v4"), { headers: { "x-forwarded-for": "198.51.100.8" } })).status).toBe(401);
    clock.advance(60_000);
    expect((await call(path("v4"), { headers: from })).status).toBe(401);
  });
});

describe("a client behind a trusted proxy", () => {
  const limitedFrom = async (entries: readonly string[]) => {
    const statuses = new Set<number>();
    for (const entry of entries)
      statuses.add((await call(path("v4"), { headers: { "x-forwarded-for": entry } })).status);
    return Array.from(statuses);
  };
  const times = (count: number, entry: (at: number) => string) => Array.from({ length: count }, (_, at) => entry(at));

  it("is one client regardless of its port and the spelling of its address", async () => {
    expect(await limitedFrom(times(30, (at) => `198.51.100.30:${1024 + at}`))).toEqual([401]);
    for (const entry of [
      "198.51.100.30",
      "198.51.100.30:65000",
      "::ffff:198.51.100.30",
      "[::ffff:198.51.100.30]:443",
    ]) {
      expect(await limitedFrom([entry]), entry).toEqual([429]);
    }
    expect(await limitedFrom(["198.51.100.31:1024"])).toEqual([401]);
  });

  it("is one client with its whole /64, without zone and port", async () => {
    expect(await limitedFrom(times(30, (at) => `[2001:db8:0:1::${at + 1}]:${1024 + at}`))).toEqual([401]);
    expect(await limitedFrom(["2001:db8:0:1::ffff", "2001:db8:0:1:a::%eth0", "[2001:db8:0:1::a%25eth0]:1"])).toEqual([
      429,
    ]);
    expect(await limitedFrom(["2001:db8:0:2::1"])).toEqual([401]);
  });

  it("with an invalid entry of the proxy counts as the proxy", async () => {
    expect(await limitedFrom(times(30, (at) => `garbage-${at}`))).toEqual([401]);
    expect(await limitedFrom(["unknown", "_hidden", "198.51.100", "198.51.100.32, x"])).toEqual([429]);
    expect((await call(path("v4"))).status).toBe(429);
  });
});

describe("a key", () => {
  it("can be admitted by a route itself, counted only against the minute if requested", async () => {
    const key = await makeTestKey(gate, { plan: "free" });
    const send = (body: object) =>
      call(`${gate.url}/rpc`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const left = (answered: Awaited<ReturnType<typeof send>>) =>
      /"minute";r=(\d+).*"day";r=(\d+)/.exec(answered.headers.get("ratelimit") ?? "")?.slice(1);
    expect(left(await send({ call: false }))).toEqual(["9", "100"]);
    expect(left(await send({ call: true }))).toEqual(["8", "99"]);
    for (let at = 0; at < 8; at += 1) await send({ call: false });
    const refused = await send({ call: true });
    expect([refused.status, left(refused)]).toEqual([429, ["0", "99"]]);
  });
});

describe("the limits", () => {
  const RATE_FIELDS = [
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "ratelimit",
    "ratelimit-policy",
  ];

  it("are in the headers of every keyed answer, including errors", async () => {
    const key = await makeTestKey(gate, { plan: "free" });
    const ok = await call(path("v4"), { key });
    const now = clock.now().getTime() / 1_000;
    const reset = Math.ceil(now / 60) * 60;
    expect(RATE_FIELDS.map((name) => ok.headers.get(name))).toEqual([
      "10",
      "9",
      String(reset),
      `"minute";r=9;t=50, "day";r=99;t=${Math.ceil(now / 86_400) * 86_400 - Math.floor(now)}`,
      '"minute";q=10;w=60, "day";q=100;w=86400',
    ]);
    expect(ok.headers.has("retry-after")).toBe(false);
    for (const name of ["hooks/1", "broken"]) {
      const { headers } = await call(path("v4", name), { key });
      expect(RATE_FIELDS.filter((field) => !headers.has(field))).toEqual([]);
    }
    const unkeyed = await call(path("v4"));
    expect(RATE_FIELDS.filter((name) => unkeyed.headers.has(name))).toEqual([]);
  });

  it("refuse the eleventh request of a free account in a minute over all its keys, with a time to wait", async () => {
    const key = await makeTestKey(gate, { plan: "free" });
    const { account_id: account } = (await call(path("v4"), { key })).body.data as unknown as { account_id: number };
    const second = await makeTestKey(gate, { account_id: account });
    for (let at = 0; at < 9; at += 1) expect((await call(path("v4"), { key: second })).status).toBe(200);
    const refused = await call(path("v4"), { key });
    expect([refused.status, refused.body.error?.code]).toEqual([429, "rate_limit_exceeded"]);
    expect(refused.headers.get("retry-after")).toBe("50");
    expect(refused.headers.get("x-ratelimit-remaining")).toBe("0");
    expect(refused.body.error?.["retry_after_seconds"]).toBeUndefined();
    clock.advance(60_000);
    expect((await call(path("v4"), { key })).status).toBe(200);
  });

  it("refuse the 101st request of a day until 00:00 UTC", async () => {
    const key = await makeTestKey(gate, { plan: "free" });
    for (let minute = 0; minute < 10; minute += 1) {
      await Promise.all(Array.from({ length: 10 }, () => call(path("v4"), { key })));
      clock.advance(60_000);
    }
    const refused = await call(path("v4"), { key });
    expect([refused.status, refused.body.error?.code]).toEqual([429, "daily_limit_exceeded"]);
    const toMidnight = 86_400 - ((clock.now().getTime() / 1_000) % 86_400);
    expect(refused.headers.get("retry-after")).toBe(String(Math.ceil(toMidnight)));
    expect(refused.headers.get("x-ratelimit-remaining")).toBe("10");
  });

  it("need few statements for a burst of 100 requests", async () => {
    const key = await makeTestKey(gate);
    await call(path("v4"), { key });
    const { limitStatements, limitRequests } = gate.app.metrics;
    const read = async () => [
      (await limitStatements.get()).values[0]?.value ?? 0,
      (await limitRequests.get()).values[0]?.value ?? 0,
    ];
    const [statementsBefore = 0, requestsBefore = 0] = await read();
    await Promise.all(Array.from({ length: 100 }, () => call(path("v4"), { key })));
    const [statementsAfter = 0, requestsAfter = 0] = await read();
    expect(requestsAfter - requestsBefore).toBe(100);
    expect(statementsAfter - statementsBefore).toBeLessThan(50);
  });
});

describe("the order", () => {
  it("is path and method, key, minute, day, scope, parameters", async () => {
    const key = await makeTestKey(gate, { plan: "free" });
    const remaining = async () => Number((await call(path("v4"), { key })).headers.get("x-ratelimit-remaining"));
    expect(await remaining()).toBe(9);
    // Unknown paths and methods are not counted and need no key.
    expect((await call(path("v4", "nope"), { key })).status).toBe(404);
    expect((await call(path("v4"), { key, method: "DELETE" })).status).toBe(405);
    expect((await call(path("v4"), { method: "DELETE" })).status).toBe(405);
    expect(await remaining()).toBe(8);
    // A missing scope is counted, and is reported before wrong parameters.
    const scope = await call(path("v4", "hooks/1?a=1&a=1"), { key });
    expect([scope.status, scope.body.error?.code]).toEqual([403, "insufficient_scope"]);
    expect(await remaining()).toBe(6);
    const broken = { method: "POST", headers: { "content-type": "application/json" }, body: "{" };
    expect((await call(path("v4", "write"), { ...broken, key })).body.error?.["reason"]).toBe("invalid_json");
    expect((await call(path("v4", "write"), broken)).body.error?.code).toBe("auth_required");
    expect((await call(path("v4", "write"), { key, method: "POST", body: "x" })).status).toBe(415);
    expect((await call(path("v4", "write"), { method: "POST", body: "x" })).status).toBe(401);
    expect((await call(path("v3", "write"), { method: "POST", body: "x" })).status).toBe(401);
    expect((await call(path("v3", "write"), broken)).body.error?.code).toBe("auth_required");
    const used = 10 - 6 + 2;
    for (let at = used; at < 10; at += 1) await call(path("v4"), { key });
    // The limit is reported before scope and parameters.
    expect((await call(path("v4", "hooks/1"), { key })).status).toBe(429);
    expect((await call(path("v4", "write"), { ...broken, key })).status).toBe(429);
    expect((await call(path("v4", "nope"), { key })).status).toBe(404);
  });

  it("reports the missing scope and those of the key", async () => {
    const narrow = await makeTestKey(gate, { plan: "pro", scopes: ["dns"] });
    const { body } = await call(path("v4"), { key: narrow });
    expect(body.error?.message).toBe(
      "This request needs the scope check. Scopes of your key: dns. Use a key with the scope check.",
    );
    const free = await makeTestKey(gate, { plan: "free" });
    expect((await call(path("v4", "hooks/1"), { key: free })).body.error?.message).toContain(
      "The free plan does not include webhook.",
    );
  });
});
