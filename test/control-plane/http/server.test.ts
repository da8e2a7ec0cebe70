import { describe, expect, it } from "vitest";
import { call, makeTestKey, startGate } from "#test/support/gate.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { countTaken, sendAllThenRead, sendRaw } from "#test/support/raw-http.ts";
import { until } from "#test/support/until.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const database = await stopAfterAll(createTestDatabase());
const gate = await stopAfterAll(startGate({ databaseUrl: database.url }));
const key = await makeTestKey(gate);

const post = (path: string, body: string | URLSearchParams, headers: Record<string, string> = {}) =>
  call(`${gate.url}${path}`, { key, method: "POST", body, headers });
const JSON_TYPE = { "content-type": "application/json" };

describe("paths and methods", () => {
  it.each(["/", "/nope", "/api/v4/nope", "/api/v4", "/api/v4/whoami/x", "/api/v4//whoami", "/API/v4/whoami", "/%zz"])(
    "%s is 404 in the envelope",
    async (path) => {
      const { status, body, headers } = await call(gate.url + path, { key });
      expect([status, body.error?.code, body.meta?.["api_version"]]).toEqual([404, "not_found", "4.0"]);
      expect(body.meta?.["request_id"]).toBe(headers.get("x-request-id"));
    },
  );

  it("a path parameter with a control character is 404, and so is a path with an invalid escape", async () => {
    for (const name of ["a%00b", "a%0Ab", "a%7Fb", "a%C2%85b", "a%ED%A0%80b", "a%FFb", "a%zzb"]) {
      expect((await call(`${gate.url}/api/v4/hooks/${name}`, { key })).status, name).toBe(404);
    }
  });

  it("a very long path parameter is 404", async () => {
    expect((await call(`${gate.url}/api/v4/hooks/${"x".repeat(5_000)}`, { key })).status).toBe(404);
  });

  it("a trailing slash is the same endpoint", async () => {
    expect((await call(`${gate.url}/api/v4/whoami/`, { key })).status).toBe(200);
  });

  it("the absolute form of a request target is accepted (RFC 9112, 3.2.2)", async () => {
    const head = `Host: x\r\nX-API-Key: ${key}\r\nConnection: close\r\n\r\n`;
    expect(await sendRaw(gate.url, `GET http://x.example/api/v4/whoami HTTP/1.1\r\n${head}`)).toMatch(/^HTTP\/1.1 200/);
    expect(await sendRaw(gate.url, `GET http://x.example HTTP/1.1\r\n${head}`)).toMatch(/^HTTP\/1.1 404/);
    expect(await sendRaw(gate.url, `OPTIONS * HTTP/1.1\r\n${head}`)).toMatch(/^HTTP\/1.1 404/);
    // Its host replaces the Host field, which has to be there all the same.
    const target = "GET http://x.example/api/v4/whoami HTTP/1.1\r\n";
    expect(await sendRaw(gate.url, `${target}Connection: close\r\n\r\n`)).toMatch(/^HTTP\/1.1 400/);
    expect(await sendRaw(gate.url, `${target.replace("x.example", "a%20b")}${head}`)).toMatch(/^HTTP\/1.1 400/);
  });

  it.each(["DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"])("%s on GET and POST is 405 with Allow", async (method) => {
    const { status, headers, body } = await call(`${gate.url}/api/v4/whoami`, { method });
    expect([status, headers.get("allow")]).toEqual([405, "GET, POST"]);
    if (method !== "HEAD") expect(body.error?.code).toBe("method_not_allowed");
    expect(headers.get("x-request-id")).toMatch(/^req_\w+$/);
  });

  it("methods that the router does not know are also 405", async () => {
    const answer = await sendRaw(gate.url, "PROPFIND /api/v4/whoami HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1.1 405[^]*allow: GET, POST/i);
  });

  it("an unmatched path is 404 regardless of the body and its type", async () => {
    expect((await post("/api/v4/nope", "x".repeat(2_000_000), { "content-type": "text/plain" })).status).toBe(404);
  });
});

describe("bodies", () => {
  it("over 1 MiB are 413, with or without Content-Length", async () => {
    const fits = `{"a":"${"x".repeat(1_048_576 - 8)}"}`;
    expect((await post("/api/v4/write", fits, JSON_TYPE)).status).toBe(200);
    const over = await post("/api/v4/write", `${fits} `, JSON_TYPE);
    expect([over.status, over.body.error?.code]).toEqual([413, "payload_too_large"]);
    const chunk = `${(65_536).toString(16)}\r\n${" ".repeat(65_536)}\r\n`;
    const chunked = await sendRaw(
      gate.url,
      `POST /api/v4/write HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n` +
        `Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n${chunk.repeat(17)}0\r\n\r\n`,
    );
    expect(chunked).toMatch(/^HTTP\/1.1 413/);
  });

  it.each([
    ["too long", `POST /api/v4/write HTTP/1.1\r\nX-API-Key: KEY\r\nContent-Type: application/json\r\n`, 413],
    ["of no type", `POST /api/v4/write HTTP/1.1\r\nX-API-Key: KEY\r\nContent-Type: text/plain\r\n`, 415],
    ["without a key", `POST /api/v4/write HTTP/1.1\r\n`, 401],
    ["at no path", `POST /api/v4/nope HTTP/1.1\r\n`, 404],
  ])("%s are answered even if the client sends everything before it reads", async (_, head, status) => {
    const length = 8 * 1_048_576;
    const all =
      `${head.replace("KEY", key)}Host: x\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n` +
      "x".repeat(length);
    expect(await sendAllThenRead(gate.url, all)).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*"code":`));
  });

  it("that do not arrive are not waited for", async () => {
    const head = `POST /api/v4/nope HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000\r\n\r\n`;
    expect(await sendRaw(gate.url, `${head}x`, 20_000)).toMatch(/^HTTP\/1.1 404 [^]*connection: close/i);
  });

  it("without end are disconnected", async () => {
    const head = `POST /api/v4/nope HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n`;
    expect(await countTaken(gate.url, head)).toBeLessThan(64 * 1_048_576);
  });

  it.each([
    "text/plain",
    "application/xml",
    "multipart/form-data; boundary=x",
    "nonsense",
    "application/json-patch+json",
  ])("of type %s are 415", async (type) => {
    const { status, body } = await post("/api/v4/write", "{}", { "content-type": type });
    expect([status, body.error?.code]).toEqual([415, "unsupported_media_type"]);
  });

  it("that are compressed are 415, and forms are only for tools", async () => {
    const gzip = await post("/api/v4/write", "{}", { ...JSON_TYPE, "content-encoding": "gzip" });
    expect(gzip.body.error?.code).toBe("unsupported_media_type");
    expect((await post("/api/v4/write", new URLSearchParams({ a: "1" }))).status).toBe(415);
    expect((await post("/api/v4/echo", new URLSearchParams({ a: "1" }))).status).toBe(200);
  });

  it("that are empty are {}, with and without a type", async () => {
    expect((await post("/api/v4/write", "", JSON_TYPE)).body.data).toEqual({});
    expect((await call(`${gate.url}/api/v4/write`, { key, method: "POST" })).body.data).toEqual({});
    expect(
      (await post("/api/v4/write", "{}", { "content-type": "Application/JSON; charset=UTF-8" })).body.data,
    ).toEqual({});
  });

  it.each([
    ["{", "invalid_json", "body"],
    ["[]", "invalid_json", "body"],
    ['{"a":{"__proto__":1}}', "unknown", "__proto__"],
    ['{"a":1,"a":2}', "duplicate", "a"],
  ])("that are invalid are 400 with the reason: %s", async (text, reason, field) => {
    for (const name of ["write", "echo"]) {
      const { status, body } = await post(`/api/v4/${name}`, text, JSON_TYPE);
      expect([status, body.error?.code]).toEqual([400, "missing_parameter"]);
      expect(body.error).toMatchObject({ reason, field });
    }
  });

  it("of tools are merged with the query, and a name in both is a duplicate", async () => {
    const joined = await post("/api/v4/echo?a=1", '{"b":[2]}', JSON_TYPE);
    expect(joined.body.data).toEqual({ values: { a: "1", b: [2] }, from: "json" });
    const both = await post("/api/v4/echo?a=1", '{"a":1}', JSON_TYPE);
    expect(both.body.error).toMatchObject({ field: "a", reason: "duplicate" });
    expect((await post("/api/v4/echo?a=1&a=2", '{"b":1}', JSON_TYPE)).body.error).toMatchObject({
      reason: "duplicate",
    });
    const twice = await call(`${gate.url}/api/v4/echo?a=1&a=2`, { key });
    expect(twice.body.data).toEqual({ values: { a: ["1", "2"] }, from: "text" });
  });
});

describe("a client that disconnects in the middle of its body", () => {
  it("causes no internal error", async () => {
    const head = `Host: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`;
    const refused = async () =>
      (await gate.app.metrics.httpRefused.get()).values.reduce((sum, { value }) => sum + value, 0);
    const before = await refused();
    await sendRaw(gate.url, `POST /api/v4/write HTTP/1.1\r\n${head}`, 200);
    await expect.poll(refused).toBe(before + 1);
    expect(gate.lines.filter((line) => JSON.stringify(line).includes("aborted"))).toEqual([]);
  });

  it("that disconnects before the answer is logged once, as abandoned", async () => {
    const leaving = new AbortController();
    const asked = fetch(`${gate.url}/api/v4/never`, { headers: { "x-api-key": key }, signal: leaving.signal });
    const leave = async () => {
      await until(() => gate.held() === 1, "the request");
      leaving.abort();
    };
    await Promise.all([expect(asked).rejects.toThrow("aborted"), leave()]);
    const lines = () => gate.lines.filter((line) => line["route"] === "/api/v4/never");
    await expect.poll(() => lines().length).toBe(1);
    expect(lines()[0]).toMatchObject({ msg: "request", status: 499 });
  });
});

describe("every answer", () => {
  it("has a unique request id of the server, not that of the client", async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const { headers } = await call(`${gate.url}/healthz`, { headers: { "x-request-id": "mine" } });
        return headers.get("x-request-id");
      }),
    );
    expect(new Set(ids).size).toBe(20);
    for (const id of ids) expect(id).toMatch(/^req_\w{12,30}$/);
  });

  it("to bytes that are not a request is a 400 in the envelope", async () => {
    for (const bytes of [
      "nonsense\r\n\r\n",
      `GET / HTTP/1.1\r\nX: ${"x".repeat(20_000)}\r\n\r\n`,
      "GET /\u0001 HTTP/1.1\r\n\r\n",
    ]) {
      const [head = "", body = ""] = (await sendRaw(gate.url, bytes)).split("\r\n\r\n");
      expect(head).toMatch(/^HTTP\/1.1 400/);
      const parsed = JSON.parse(body) as { error: { code: string }; meta: { request_id: string } };
      expect(parsed.error.code).toBe("missing_parameter");
      expect(head).toContain(`X-Request-Id: ${parsed.meta.request_id}`);
    }
  });

  it.each([
    ["two Host fields", "Host: a.example\r\nHost: b.example", "duplicate"],
    ["the same Host twice", "Host: a.example\r\nhost: a.example", "duplicate"],
    ["spaces in Host", "Host: a b", "type"],
    ["user info in Host", "Host: user@a.example", "type"],
    ["a path in Host", "Host: a.example/x", "type"],
    ["a broken escape in Host", "Host: %zz", "type"],
    ["a number that is no address in Host", "Host: 256.256.256.256", "type"],
    ["a port that is none in Host", "Host: a.example:99999", "type"],
    ["broken brackets in Host", "Host: [::1", "type"],
    ["letters beyond ASCII in Host", "Host: b\u00fccher.example", "type"],
  ])("to %s is a 400 without an error in the log", async (_, fields, reason) => {
    const before = gate.lines.length;
    const answer = await sendRaw(gate.url, `GET /api/v4/whoami HTTP/1.1\r\n${fields}\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 400[^]*x-request-id/);
    expect(answer).toContain(`"field":"Host","reason":"${reason}"`);
    expect(gate.lines.slice(before).filter((line) => "err" in line)).toEqual([]);
  });

  it("to any valid Host is normal", async () => {
    for (const host of [
      "a.example",
      "A.example:8080",
      "a_b.example.",
      "127.0.0.1:1",
      "[::1]",
      "[2001:db8::1]:80",
      "",
    ]) {
      const request = `GET /api/v4/whoami HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${key}\r\nConnection: close\r\n\r\n`;
      expect(await sendRaw(gate.url, request), host).toMatch(/^HTTP\/1.1 200/);
    }
  });

  it("to HTTP/1.1 without Host is a 400", async () => {
    expect(await sendRaw(gate.url, "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n")).toMatch(
      /^HTTP\/1.1 400[^]*x-request-id[^]*"field":"Host"/,
    );
    expect(await sendRaw(gate.url, "GET /healthz HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1.[01] 200/);
  });

  it("to a key whose account is erased during the request is a 401", async () => {
    const { status, body, headers } = await call(`${gate.url}/api/v4/erased`, { key });
    expect([status, body.error?.code, headers.get("www-authenticate")]).toEqual([401, "invalid_api_key", "Bearer"]);
  });

  it("to an internal error shows no details, which are in the log with the request's id", async () => {
    const { status, body, headers } = await call(`${gate.url}/api/v4/broken`, { key });
    expect([status, body.error?.code]).toEqual([500, "internal_error"]);
    expect(JSON.stringify(body)).not.toContain("secret");
    const line = gate.lines.find((each) => each["request_id"] === headers.get("x-request-id") && each["err"]);
    expect(line).toMatchObject({ level: "error", err: { message: "a secret of the inside" } });
  });
});

describe("the log and the metrics", () => {
  it("contain the route's pattern and the account, never the key, the query or the requested path", async () => {
    await call(`${gate.url}/api/v4/hooks/token-in-path?target=private.example`, { key });
    await call(`${gate.url}/api/v3/whoami?api_key=${key}`);
    await call(`${gate.url}/nope-secret-path`);
    const text = JSON.stringify(gate.lines);
    for (const secret of [key, "token-in-path", "private.example", "nope-secret-path"])
      expect(text).not.toContain(secret);
    await expect.poll(() => gate.lines.some((line) => line["route"] === "/api/v4/hooks/:id")).toBe(true);
    const line = gate.lines.findLast((each) => each["route"] === "/api/v4/hooks/:id");
    expect(line).toMatchObject({ msg: "request", method: "GET", status: 200, account_id: 1, address: "127.0.0.1" });
    const metrics = await gate.app.metrics.registry.metrics();
    expect(metrics).toMatch(
      /vantage_http_request_duration_seconds_count\{route="\/api\/v4\/hooks\/:id",method="GET",status="2xx"\} 1/,
    );
    expect(metrics).not.toContain("token-in-path");
    expect(metrics).not.toContain("nope-secret-path");
  });

  it("show an unknown method as `other`", async () => {
    await sendRaw(gate.url, "PROPFIND /api/v4/whoami HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    expect(await gate.app.metrics.registry.metrics()).not.toContain("PROPFIND");
  });
});
