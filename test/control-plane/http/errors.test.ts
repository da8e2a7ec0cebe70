import { describe, expect, it } from "vitest";
import { createManualClock } from "#test/support/clock.ts";
import { call, makeTestKey, startGate } from "#test/support/gate.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { sendRaw } from "#test/support/raw-http.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const clock = createManualClock(new Date("2026-09-30T23:00:00Z"));
const SUNSET = new Date("2026-10-01T00:00:00Z");

const database = await stopAfterAll(createTestDatabase());
const gate = await stopAfterAll(startGate({ databaseUrl: database.url, overrides: { clock }, sunset: SUNSET }));
const key = await makeTestKey(gate, { plan: "free" });

/** One request for each refusal of the gate: path below the version, request, status, code. */
const REFUSALS: readonly [string, RequestInit & { keyless?: true }, number, string][] = [
  ["nope", {}, 404, "not_found"],
  ["whoami", { method: "DELETE" }, 405, "method_not_allowed"],
  ["whoami", { keyless: true }, 401, "auth_required"],
  ["whoami", { keyless: true, headers: { "x-api-key": "wrong" } }, 401, "invalid_api_key"],
  ["hooks/1", {}, 403, "insufficient_scope"],
  ["write", { method: "POST", body: "{", headers: { "content-type": "application/json" } }, 400, "missing_parameter"],
  ["write", { method: "POST", body: "x", headers: { "content-type": "text/plain" } }, 415, "unsupported_media_type"],
  [
    "write",
    { method: "POST", body: " ".repeat(1_048_577), headers: { "content-type": "application/json" } },
    413,
    "payload_too_large",
  ],
  ["broken", {}, 500, "internal_error"],
];

describe("a refusal", () => {
  it.each(REFUSALS)("%s %o has the shape of its version", async (name, { keyless, ...init }, status, code) => {
    clock.advance(60_000);
    const meta = { request_id: expect.stringMatching(/^req_/), duration_ms: expect.any(Number) };
    const bodies: Record<string, unknown> = {};
    for (const version of ["v1", "v2", "v3", "v4"]) {
      const answer = await call(`${gate.url}/api/${version}/${name}`, keyless === true ? init : { ...init, key });
      expect(answer.status).toBe(status);
      expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
      bodies[version] = answer.body;
    }
    const error = expect.objectContaining({ code, message: expect.stringMatching(/\S/) });
    const message = expect.stringMatching(/\S/);
    expect(bodies).toEqual({
      v1: { success: false, error: message },
      v2: { ok: false, error: message, meta },
      v3: { error, meta },
      v4: { error, meta: { ...meta, api_version: "4.0" } },
    });
  });

  it("of the limits has it as well", async () => {
    clock.advance(60_000);
    for (let at = 0; at < 10; at += 1) await call(`${gate.url}/api/v4/whoami`, { key });
    const one = await call(`${gate.url}/api/v1/whoami`, { key });
    expect([one.status, one.body["success"]]).toEqual([429, false]);
    expect(one.headers.get("retry-after")).toMatch(/^\d+$/);
    const three = await call(`${gate.url}/api/v3/whoami`, { key });
    expect([three.body.error?.code, three.body.meta?.["api_version"]]).toEqual(["rate_limit_exceeded", undefined]);
  });
});

describe("v1 and v2", () => {
  it("announce their sunset in every answer, v3 and v4 do not", async () => {
    for (const name of ["whoami", "nope"]) {
      for (const version of ["v1", "v2"]) {
        const { headers } = await call(`${gate.url}/api/${version}/${name}`);
        expect(headers.get("deprecation")).toBe("@1767225600");
        expect(headers.get("sunset")).toBe("Thu, 01 Oct 2026 00:00:00 GMT");
        expect(headers.get("link")).toBe(`</api/v4/${name}>; rel="successor-version"`);
      }
      expect((await call(`${gate.url}/api/v3/${name}`)).headers.has("sunset")).toBe(false);
    }
  });

  it("are 410 after their sunset, before path, method and key, in their own shapes with the same headers", async () => {
    clock.advance(SUNSET.getTime() - clock.now().getTime() - 1);
    expect((await call(`${gate.url}/api/v1/whoami`, { key })).status).toBe(200);
    clock.advance(1);
    for (const [method, name] of [
      ["GET", "whoami"],
      ["GET", "nope"],
      ["DELETE", "whoami"],
      ["GET", ""],
    ] as const) {
      const one = await call(`${gate.url}/api/v1/${name}`, { method });
      expect([one.status, one.body]).toEqual([410, { success: false, error: expect.stringContaining("/api/v4/") }]);
      const two = await call(`${gate.url}/api/v2/${name}`, { method, key });
      expect([two.status, two.body["ok"], two.headers.get("sunset")]).toEqual([410, false, SUNSET.toUTCString()]);
      expect(two.headers.has("x-ratelimit-limit")).toBe(false);
    }
    expect(await sendRaw(gate.url, "GET /api/%761/whoami HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")).toMatch(
      /^HTTP\/1.1 410/,
    );
    expect((await call(`${gate.url}/api/v3/whoami`, { key })).status).toBe(200);
    expect((await call(`${gate.url}/api/v1`)).status).toBe(404);
  });
});
