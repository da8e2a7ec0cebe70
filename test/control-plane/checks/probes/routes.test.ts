import { describe, expect, it } from "vitest";
import { startControlPlane } from "#test/support/control-plane.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const plane = await stopAfterAll(startControlPlane());

/** Returns the status and the data of the answer. */
async function ask(method: string, path: string, body?: unknown) {
  const { status, body: came } = await plane.operate(method, `/api/admin${path}`, body);
  const { code, field, reason } = (came.error ?? {}) as { code?: string; field?: string; reason?: string };
  return { status, data: came.data as unknown, error: [code, field, reason] };
}

describe("POST /api/admin/probe-tokens", () => {
  it("creates a token for an hour, which contains the fingerprint", async () => {
    const before = plane.app.clock.now().getTime();
    const { status, data } = await ask("POST", "/probe-tokens", { region: "eu-west" });
    expect(status).toBe(201);
    const { token, expires_at, ca_fingerprint } = data as Record<string, string>;
    expect(token).toMatch(/^vjt_[A-Za-z0-9_-]{43}_[0-9a-f]{64}$/);
    expect(token?.slice(-64)).toBe(ca_fingerprint);
    const createdAt = new Date(expires_at ?? "").getTime() - 3_600_000;
    expect(createdAt).toBeGreaterThanOrEqual(before);
    expect(createdAt).toBeLessThanOrEqual(plane.app.clock.now().getTime());
  });

  it("refuses fields that are out of range, unknown or missing, and names them", async () => {
    const refused = async (body: unknown) => (await ask("POST", "/probe-tokens", body)).error;
    const code = "missing_parameter";
    expect(await refused({})).toEqual([code, "region", "required"]);
    for (const region of ["EU", "-eu", "eu west", "é", "x".repeat(33), ""]) {
      expect((await refused({ region })).slice(0, 2)).toEqual([code, "region"]);
    }
    const region = "eu";
    for (const ttl of [59, 30 * 86_400 + 1, 0, -1]) {
      expect(await refused({ region, ttl_seconds: ttl })).toEqual([code, "ttl_seconds", "range"]);
    }
    expect(await refused({ region, ttl_seconds: "soon" })).toEqual([code, "ttl_seconds", "type"]);
    expect(await refused({ region, reusable: "maybe" })).toEqual([code, "reusable", "type"]);
    expect(await refused({ region, color: 1 })).toEqual([code, "color", "unknown"]);
    expect(await ask("POST", "/probe-tokens", { region, account_id: 999_999 })).toMatchObject({ status: 404 });
  });

  it("is only for the operator", async () => {
    const key = await plane.createKey();
    for (const [method, path] of [
      ["POST", "/probe-tokens"],
      ["PUT", "/probes?id=x"],
      ["DELETE", "/probes?id=x"],
    ] as const) {
      const headers = { authorization: `Bearer ${key}` };
      expect((await plane.call(`/api/admin${path}`, { method, headers })).status).toBe(401);
    }
  });
});

describe("PUT and DELETE /api/admin/probes", () => {
  it("report missing fields and unknown agents", async () => {
    expect(await ask("DELETE", "/probes")).toMatchObject({
      status: 400,
      error: ["missing_parameter", "id", "required"],
    });
    expect(await ask("DELETE", "/probes?id=nobody")).toMatchObject({
      status: 404,
      error: ["not_found", undefined, undefined],
    });
    expect(await ask("PUT", "/probes?id=nobody", { enabled: true })).toMatchObject({ status: 404 });
    expect((await ask("PUT", "/probes?id=nobody", {})).error).toEqual(["missing_parameter", "enabled", "required"]);
    expect((await ask("DELETE", `/probes?id=${"x".repeat(65)}`)).error).toEqual(["missing_parameter", "id", "range"]);
  });
});
