import { describe, expect, it } from "vitest";
import { startHttpServer } from "#test/servers/http.ts";
import { useAgent } from "#test/support/agent-process.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const plane = await stopAfterAll(startControlPlane({ config: { v1V2Sunset: new Date("2999-01-01T00:00:00Z") } }));
const sunk = await stopAfterAll(startControlPlane({ config: { v1V2Sunset: new Date("2026-10-01T00:00:00Z") } }));
useAgent(plane, "eu-west");
const web = await stopAfterAll(startHttpServer());
const key = await plane.createKey();

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

  it("accepts the key in the query, in a JSON body and in a form", async () => {
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

  it("reports a missing url as invalid_url, without api_version in meta", async () => {
    const { status, body } = await plane.call("/api/v3/check", { key });
    expect([status, body.error]).toMatchObject([400, { code: "invalid_url" }]);
    expect(body.meta).not.toHaveProperty("api_version");
  });

  it("ignores parameters that only version 4 has", async () => {
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
  it("answer in their own forms and announce their end", async () => {
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

  it("fail in their own forms", async () => {
    expect((await plane.call("/api/v1/check", { key })).body).toEqual({ success: false, error: expect.any(String) });
    expect((await plane.call("/api/v2/check", { key })).body).toMatchObject({ ok: false, error: expect.any(String) });
  });
});

describe("versions 1 and 2 after their date", () => {
  it("are refused before anything else is checked", async () => {
    const v1 = await sunk.call("/api/v1/check");
    expect([v1.status, v1.body]).toEqual([410, { success: false, error: expect.stringContaining("/api/v4/") }]);
    const v2 = await sunk.call("/api/v2/anything", { method: "DELETE" });
    expect([v2.status, v2.body]).toMatchObject([410, { ok: false }]);
    expect(v2.headers.get("sunset")).toBe("Thu, 01 Oct 2026 00:00:00 GMT");
    expect((await sunk.call("/api/v3/check")).status).toBe(401);
  });
});

describe("an ignored parameter", () => {
  /** Returns parameter and suggestion of each warning. */
  function warned(body: { readonly meta: unknown }): readonly (readonly [string, string | null])[] {
    const { warnings = [] } = body.meta as { warnings?: readonly { parameter: string; did_you_mean: string | null }[] };
    return warnings.map((warning) => [warning.parameter, warning.did_you_mean] as const);
  }

  it("of a tool's query is reported with the nearest known one, and has no effect", async () => {
    const { status, body } = await plane.call(`/api/v4/check?url=${web.url}&time_out=2&location=x&utm_source=a`, {
      key,
    });
    expect(status).toBe(200);
    expect(warned(body)).toEqual([
      ["time_out", "timeout"],
      ["location", "locations"],
      ["utm_source", null],
    ]);
    const { warnings } = body.meta as { warnings: readonly { message: string }[] };
    expect(warnings[0]?.message).toBe(
      '"time_out" is not a parameter of this call and was ignored. Did you mean "timeout"?',
    );
  });

  it("of a JSON body, a form and their query is reported too", async () => {
    const json = await plane.call("/api/v4/check?metod=GET", { key, body: { url: web.url, folow: 1 } });
    const form = await plane.call("/api/v4/check?dryrun=1", {
      key,
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ url: web.url, ur: "x" }).toString(),
    });
    expect([json.status, form.status]).toEqual([200, 200]);
    expect(warned(json.body)).toEqual([
      ["metod", "method"],
      ["folow", "follow"],
    ]);
    expect(warned(form.body)).toEqual([
      ["dryrun", "dry_run"],
      ["ur", "url"],
    ]);
  });

  it("is reported if the mistyped name is the reason why the call fails", async () => {
    const { status, body } = await plane.call(`/api/v4/check?uri=${web.url}`, { key });
    expect([status, body.error]).toMatchObject([400, { field: "url", reason: "required" }]);
    expect(warned(body)).toEqual([["uri", "url"]]);
  });

  it("is reported in the last event of a stream", async () => {
    const headers = { accept: "text/event-stream" };
    const { text } = await plane.call(`/api/v4/check?url=${web.url}&time_out=2`, { key, headers });
    const [, done = "{}"] = /event: done\n(?:id: \d+\n)?data: (.*)\n/.exec(text) ?? [];
    expect(warned(JSON.parse(done) as never)).toEqual([["time_out", "timeout"]]);
  });

  it("of any other v4 route is reported: lists, background calls, the operator's", async () => {
    const params = { url: web.url, folow: 0 };
    const created = await plane.call("/api/v4/measurements?shar=1", { key, body: { tool: "check", params } });
    expect(created.status).toBe(202);
    expect(warned(created.body)).toEqual([
      ["shar", "share"],
      ["params.folow", "params.follow"],
    ]);
    for (const path of ["/api/v4/measurements?perpage=2", "/api/v4/tools?perpage=2", "/api/v4/probes?perpage=2"]) {
      const { status, body } = await plane.call(path, { key });
      expect([status, warned(body).length], path).toEqual([200, 1]);
    }
    const listed = await plane.call("/api/v4/measurements?per_pge=2", { key });
    expect(warned(listed.body)).toEqual([["per_pge", "per_page"]]);
    expect(warned((await plane.operate("GET", "/api/admin/keys?pag=2")).body)).toEqual([["pag", "page"]]);
  });

  it("is never one that the call uses", async () => {
    for (const query of ["locations=all", "locations=all&dry_run=1", "share=1&timeout=5&ua=x&follow=0&method=HEAD"]) {
      const { status, body } = await plane.call(`/api/v4/check?url=${web.url}&${query}`, { key });
      expect(status, query).toBe(200);
      expect(body.meta, query).not.toHaveProperty("warnings");
    }
    const page = await plane.call("/api/v4/measurements?page=1&per_page=2", { key });
    expect(page.body.meta).not.toHaveProperty("warnings");
  });

  it("is not reported by versions before 4, nor in the open tier's results", async () => {
    for (const version of ["v3", "v2", "v1"]) {
      const { status, text } = await plane.call(`/api/${version}/check?url=${web.url}&time_out=2&api_key=${key}`);
      expect([status, text.includes("warnings")], version).toEqual([200, false]);
      const refused = await plane.call(`/api/${version}/check?uri=x&api_key=${key}`);
      expect([refused.status, refused.text.includes("warnings")], version).toEqual([400, false]);
    }
    const open = await plane.call(`/api/open/http-status?q=${web.url}&format=json&time_out=2`);
    expect([open.status, open.text.includes('"warnings"')]).toEqual([200, false]);
  });

  it("has its name shortened if it is long, and only the first twenty are reported", async () => {
    const names = Array.from({ length: 30 }, (_, index) => `${"n".repeat(150)}${index}=1`).join("&");
    const { body } = await plane.call(`/api/v4/check?url=${web.url}&${names}`, { key });
    expect(warned(body)).toHaveLength(20);
    expect(warned(body)[0]?.[0]).toHaveLength(100);
  });
});
