import { describe, expect, it } from "vitest";
import { startControlPlane } from "#test/support/control-plane.ts";
import { keepAlive } from "#test/support/measurements.ts";
import { attachScripted, helloOf } from "#test/support/scripted-agent.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

/** Scopes of all tools. */
const TOOLS = "check,dns,ssl,ip,ping";
/** Keys of one account by their scopes. */
const keys = new Map<string, string>();

const plane = await stopAfterAll(startControlPlane());
const issued = await plane.operate("POST", "/api/admin/keys", { plan: "captain" });
const accountId = (issued.body.data as { account_id: number }).account_id;
const lists = [["check"], ["check", "dns"], ["dns"], ["monitors"], ["monitors:read"], ["check", "monitors"]];
for (const scopes of [...lists, TOOLS.split(",")]) {
  const made = await plane.operate("POST", "/api/admin/keys", { account_id: accountId, scopes });
  keys.set((made.body.data["scopes"] as readonly string[]).join(), made.body.data["key"]);
}
keepAlive(await attachScripted(plane, helloOf("eu-west")));

const keyOf = (scopes: string): string => keys.get(scopes) ?? "";
const get = (scopes: string, path: string) => plane.call(`/api/${path}`, { key: keyOf(scopes) });
const send = (scopes: string, method: string, path: string, body?: object) =>
  plane.call(`/api/${path}`, { method, key: keyOf(scopes), ...(body === undefined ? {} : { body }) });
const mcp = async (scopes: string, name: string, args: object) => {
  const params = { name, arguments: args };
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  return (await plane.call("/mcp", { key: keyOf(scopes), body })).text;
};

const REFUSED = { code: "insufficient_scope" };

describe("a key without the scope of a tool", () => {
  it("reads, lists and cancels no measurement of it", async () => {
    const made = await send("check,dns", "POST", "v4/measurements", { tool: "dns", params: { domain: "example.com" } });
    expect(made.status, made.text).toBe(202);
    const { id } = made.body.data as { id: string };
    const path = `v4/measurements?id=${id}`;
    for (const method of ["GET", "DELETE"]) {
      const refused = await send("check", method, path);
      expect([refused.status, refused.body.error], method).toMatchObject([403, REFUSED]);
    }
    const stream = { key: keyOf("check"), headers: { accept: "text/event-stream" } };
    expect((await plane.call(`/api/${path}`, stream)).status).toBe(403);
    const none = await get("check", "v4/measurements");
    expect([none.body.data, none.body.meta["pagination"]["total"]]).toEqual([[], 0]);
    expect((await get("dns", path)).body.data).toMatchObject({ id, tool: "dns" });
    expect((await get("dns", "v4/measurements")).body.data).toMatchObject([{ id }]);
    expect((await send("dns", "DELETE", path)).status).toBe(200);
  });

  it("reads and cancels no batch of it, by either surface", async () => {
    const made = await send("check,dns", "POST", "v4/batch", { type: "dns", urls: ["example.com"] });
    expect(made.status, made.text).toBe(202);
    const { job_id: id } = made.body.data as { job_id: string };
    const path = `v4/batch?job_id=${id}`;
    for (const method of ["GET", "DELETE"]) {
      const refused = await send("check", method, path);
      expect([refused.status, refused.body.error], method).toMatchObject([403, REFUSED]);
    }
    expect(await mcp("check", "get_batch", { job_id: id })).toContain("insufficient_scope");
    expect(await mcp("check,dns", "get_batch", { job_id: id })).toContain(id);
    expect((await get("check,dns", path)).status).toBe(200);
  });

  it("reads nothing of a tool that an earlier release had: it can have needed any scope", async () => {
    const check = { tool: "dns", params: { domain: "example.com" } };
    const measurement = (await send("check,dns", "POST", "v4/measurements", check)).body.data as { id: string };
    const batch = await send("check,dns", "POST", "v4/batch", { type: "dns", urls: ["example.com"] });
    const { job_id: batchId } = batch.body.data as { job_id: string };
    // No agent works at them while they are renamed: the renamed ones have ended.
    for (const path of [`v4/measurements?id=${measurement.id}`, `v4/batch?job_id=${batchId}`])
      await send("check,dns", "DELETE", path);
    await plane.app.sql`update measurements set tool = 'former' where id = ${measurement.id}`;
    await plane.app.sql`update batches set tool = 'former' where id = ${batchId}`;
    const paths = [`v4/measurements?id=${measurement.id}`, `v4/batch?job_id=${batchId}`];
    const formers = async (scopes: string) => {
      const listed = (await get(scopes, "v4/measurements")).body.data as readonly { readonly tool: string }[];
      return listed.filter(({ tool }) => tool === "former").length;
    };
    for (const path of paths) {
      for (const method of ["GET", "DELETE"]) {
        const refused = await send("check,dns", method, path);
        expect([refused.status, refused.body.error], path).toMatchObject([403, REFUSED]);
        expect((await send(TOOLS, method, path)).status, path).toBe(200);
      }
    }
    expect(await mcp("check,dns", "get_batch", { job_id: batchId })).toContain("insufficient_scope");
    expect(await mcp(TOOLS, "get_batch", { job_id: batchId })).toContain(batchId);
    expect([await formers("check,dns"), await formers(TOOLS)]).toEqual([0, 1]);
  });

  it("sees a private page as everybody does who may not see it", async () => {
    const page = { title: "x", slug: "private-scopes", is_public: false };
    expect((await send("monitors", "POST", "v4/status", page)).status).toBe(201);
    for (const version of ["v4", "v3"]) {
      const at = `${version}/status?slug=private-scopes`;
      expect((await get("check,dns", at)).status).toBe(404);
      expect((await get("monitors", at)).status).toBe(200);
      expect((await get("monitors:read", at)).status).toBe(200);
    }
  });
});

describe("a key with the scope monitors:read", () => {
  it("reads monitors, incidents, pages, maintenance and metrics", async () => {
    for (const path of ["v4/monitors", "v3/monitors", "v4/incidents", "v4/status", "v4/maintenance", "v4/metrics"]) {
      const read = await get("monitors:read", path);
      expect(read.status, `${path} ${read.text}`).toBe(200);
      expect((await get("dns", path)).body.error, path).toMatchObject(REFUSED);
    }
    for (const name of ["list_monitors", "get_status_page"]) {
      expect(
        await mcp("monitors:read", name, name === "list_monitors" ? {} : { slug: "private-scopes" }),
      ).not.toContain("isError");
    }
  });

  it("writes nothing", async () => {
    const made = await send("monitors", "POST", "v4/monitors", { name: "Kept", check_type: "heartbeat" });
    const { id } = made.body.data as { id: number };
    const writes: readonly (readonly [string, string, object?])[] = [
      ["POST", "v4/monitors", { name: "New", check_type: "heartbeat" }],
      ["PUT", `v4/monitors?id=${id}`, { name: "Other" }],
      ["DELETE", `v4/monitors?id=${id}`],
      ["POST", `v4/monitors?action=run&id=${id}`],
      ["POST", `v4/monitors?action=rotate&id=${id}`],
      ["POST", "v4/monitors?action=import", { version: 2, monitors: [] }],
      ["POST", "v3/monitors", { url: "https://example.com" }],
      ["POST", "v4/incidents", { title: "x", text: "y", monitor_ids: [id] }],
      ["PUT", "v4/incidents?id=1", { note: "x" }],
      ["POST", "v4/status", { title: "x", slug: "reader-page" }],
      ["PUT", "v4/status?id=1", { title: "x" }],
      ["DELETE", "v4/status?id=1"],
      ["POST", "v4/maintenance", { title: "x" }],
      ["DELETE", "v4/maintenance?id=1"],
      ["GET", "v4/changes"],
      ["GET", "v4/webhooks"],
      ["GET", "v4/check?url=https://example.com"],
    ];
    for (const [method, path, body] of writes) {
      const refused = await send("monitors:read", method, path, body);
      expect([refused.status, refused.body.error], `${method} ${path}`).toMatchObject([403, REFUSED]);
    }
    expect((await get("monitors", `v4/monitors?id=${id}`)).body.data).toMatchObject({ name: "Kept" });
  });

  it("reads no address of a heartbeat and no secret, also in an export", async () => {
    const secret = { name: "Secret", url: "https://example.com", request_headers: { Authorization: "s3cret" } };
    await send("monitors", "POST", "v4/monitors", secret);
    const made = await send("monitors", "POST", "v4/monitors", { name: "Beat", check_type: "heartbeat" });
    const { id, heartbeat_url: url } = made.body.data as { id: number; heartbeat_url: string };
    const token = url.slice(url.lastIndexOf("/") + 1);
    expect((await get("monitors", `v4/monitors?id=${id}`)).text).toContain(token);
    const paths = [`v4/monitors?id=${id}`, "v4/monitors", "v3/monitors", "v4/monitors?action=export", "v4/metrics"];
    for (const path of paths) {
      const { status, text } = await get("monitors:read", path);
      expect(status, path).toBe(200);
      for (const hidden of [token, "s3cret", "cron_line"]) expect(text, path).not.toContain(hidden);
    }
    for (const [name, args] of [
      ["list_monitors", {}],
      ["get_monitor", { id }],
    ] as const) {
      expect(await mcp("monitors:read", name, args)).not.toContain(token);
    }
    const refused = await get("monitors:read", "v4/monitors?action=export&secrets=include");
    expect([refused.status, refused.body.error]).toMatchObject([403, REFUSED]);
    expect((await get("monitors", "v4/monitors?action=export&secrets=include")).text).toContain("s3cret");
  });

  it("is made where the plan has monitors, and only if it is asked for", async () => {
    const made = ["check", "check,dns", "dns", "monitors", "monitors:read", "check,monitors", TOOLS];
    expect([...keys.keys()]).toEqual(made);
    const asked = (plan: string) => plane.operate("POST", "/api/admin/keys", { plan, scopes: ["monitors:read"] });
    expect((await asked("free")).body.error).toMatchObject({ field: "scopes", reason: "enum" });
    expect((await asked("starter")).status).toBe(201);
    const whole = await plane.operate("POST", "/api/admin/keys", { plan: "pro" });
    expect(whole.body.data["scopes"]).toEqual(["check", "dns", "ssl", "ip", "ping", "monitors", "webhook"]);
  });
});
