import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";

let plane: TestControlPlane;
let sunk: TestControlPlane;
let agent: AgentProcess;
let web: HttpServer;
let key: string;

beforeAll(async () => {
  plane = await startControlPlane({ config: { v1V2Sunset: new Date("2999-01-01T00:00:00Z") } });
  sunk = await startControlPlane({ config: { v1V2Sunset: new Date("2026-10-01T00:00:00Z") } });
  agent = await startAgent(plane, "eu-west");
  web = await startHttpServer();
  key = await plane.createKey();
});

afterAll(async () => {
  await agent?.stop();
  await plane?.stop();
  await sunk?.stop();
  await web?.close();
});

describe("version 3", () => {
  it.each(["/api/v3/check", "/api/v3/check.php", "/api/v3/check.php/"])(
    "answers at %s with version 4's data",
    async (path) => {
      const { body } = await plane.call(`${path}?url=${web.url}`, { key });
      expect(body.data).toMatchObject({ code: 200, final_url: `${web.url}/` });
      expect(body.meta).toEqual({
        request_id: expect.any(String),
        duration_ms: expect.any(Number),
        api_version: "3.0",
      });
    },
  );

  it("takes the key in the query, in a JSON body and in a form", async () => {
    const query = await plane.call(`/api/v3/check?url=${web.url}&api_key=${key}`);
    const json = await plane.call("/api/v3/check", { body: { url: web.url, api_key: key } });
    const form = await plane.call("/api/v3/check", {
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ url: web.url, api_key: key }).toString(),
    });
    expect([query.status, json.status, form.status]).toEqual([200, 200, 200]);
    const v4 = await plane.call(`/api/v4/check?url=${web.url}&api_key=${key}`);
    expect([v4.status, v4.body.error]).toMatchObject([401, { code: "auth_required" }]);
  });

  it("calls a missing url invalid_url, without api_version in meta", async () => {
    const { status, body } = await plane.call("/api/v3/check", { key });
    expect([status, body.error]).toMatchObject([400, { code: "invalid_url" }]);
    expect(body.meta).not.toHaveProperty("api_version");
  });

  it("ignores what only version 4 knows", async () => {
    const { body } = await plane.call(`/api/v3/check?url=${web.url}&locations=atlantis&dry_run=1`, {
      key,
      headers: { accept: "text/event-stream" },
    });
    expect(body.data).toMatchObject({ code: 200 });
    for (const path of ["tools", "probes", "http-status", "webhooks", "batch"]) {
      expect((await plane.call(`/api/v3/${path}`, { key })).status, path).toBe(404);
    }
  });
});

describe("versions 1 and 2 before their date", () => {
  it("answer in their own shapes and announce their end", async () => {
    const v1 = await plane.call(`/api/v1/check.php?url=${web.url}`, { key });
    expect(v1.body).toMatchObject({ success: true, code: 200, request_id: expect.any(String) });
    const v2 = await plane.call(`/api/v2/check?url=${web.url}`, { key });
    expect(v2.body).toMatchObject({ ok: true, data: { code: 200 }, meta: { request_id: expect.any(String) } });
    for (const { headers } of [v1, v2]) {
      expect(headers.get("deprecation")).toBe("@1767225600");
      expect(headers.get("sunset")).toBe("Tue, 01 Jan 2999 00:00:00 GMT");
      expect(headers.get("link")).toContain('rel="successor-version"');
    }
  });

  it("fail in their own shapes", async () => {
    expect((await plane.call("/api/v1/check", { key })).body).toEqual({ success: false, error: expect.any(String) });
    expect((await plane.call("/api/v2/check", { key })).body).toMatchObject({ ok: false, error: expect.any(String) });
  });
});

describe("versions 1 and 2 after their date", () => {
  it("are gone before anything else is looked at", async () => {
    const v1 = await sunk.call("/api/v1/check");
    expect([v1.status, v1.body]).toEqual([410, { success: false, error: expect.stringContaining("/api/v4/") }]);
    const v2 = await sunk.call("/api/v2/anything", { method: "DELETE" });
    expect([v2.status, v2.body]).toMatchObject([410, { ok: false }]);
    expect(v2.headers.get("sunset")).toBe("Thu, 01 Oct 2026 00:00:00 GMT");
    expect((await sunk.call("/api/v3/check")).status).toBe(401);
  });
});
