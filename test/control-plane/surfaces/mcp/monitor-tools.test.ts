import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv";
import { describe, expect, it } from "vitest";
import { getMonitorTool } from "#control-plane/surfaces/mcp/get-monitor.ts";
import { listMonitorsTool } from "#control-plane/surfaces/mcp/list-monitors.ts";
import type { McpTool } from "#control-plane/surfaces/mcp/mcp-tool.ts";
import { startMonitorService } from "#test/support/monitor-service.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const service = await stopAfterAll(startMonitorService());
service.attach("eu-west");
const made = await service.operate("POST", "/api/admin/keys", { plan: "pro" });
const { key, account_id: accountId } = made.body.data as { key: string; account_id: number };
const headers = { Authorization: "s3cret" };
const body = { url: "https://example.com", name: "Shop", tags: ["web"], request_headers: headers };
const id = (await service.call("/api/v4/monitors", { key, body })).body.data["id"];
await service.call("/api/v4/monitors", { key, body: { ...body, name: "Blog", tags: [] } });

const call = (tool: McpTool, args: object, account = accountId) =>
  tool.call({ accountId: account } as never, args as Record<string, unknown>, new AbortController().signal);

describe("list_monitors", () => {
  it("returns the caller's monitors with their status, filtered and in pages", async () => {
    const tool = listMonitorsTool(service.monitors);
    const all = await call(tool, {});
    expect(all).toMatchObject({
      ok: true,
      data: { monitors: [{ name: "Blog" }, { id, name: "Shop", status: "unknown" }], pagination: { total: 2 } },
    });
    expect(await call(tool, { tag: "web" })).toMatchObject({ data: { monitors: [{ id }] } });
    expect(await call(tool, { q: "sho", per_page: 1 })).toMatchObject({ data: { monitors: [{ id }] } });
    expect(await call(tool, { status: "down" })).toMatchObject({ data: { monitors: [] } });
    expect(await call(tool, {}, accountId + 1_000)).toMatchObject({ data: { monitors: [], pagination: { total: 0 } } });
    expect(await call(tool, { status: "broken" })).toMatchObject({ ok: false, details: { field: "status" } });
    expect(await call(tool, { colour: "red" })).toMatchObject({ ok: false, details: { reason: "unknown" } });
    expect(JSON.stringify(all)).not.toContain("s3cret");
  });
});

describe("get_monitor", () => {
  it("returns one monitor of the caller with its checks, and no secret", async () => {
    const tool = getMonitorTool(service.monitors);
    const found = await call(tool, { id });
    expect(found).toMatchObject({
      ok: true,
      data: { id, name: "Shop", checks: [], settings: { request_headers: { Authorization: "****" } } },
    });
    expect(await call(tool, { id }, accountId + 1_000)).toEqual(await call(tool, { id: 999_999 }));
    expect(await call(tool, { id: "1" })).toMatchObject({ ok: false, details: { field: "id", reason: "type" } });
    expect(await call(tool, {})).toMatchObject({ ok: false, details: { field: "id", reason: "required" } });
  });
});

it("both return what their output schemas describe", async () => {
  for (const [tool, args] of [
    [listMonitorsTool(service.monitors), {}],
    [getMonitorTool(service.monitors), { id }],
  ] as const) {
    const answer = await call(tool, args);
    const validate = new AjvJsonSchemaValidator().getValidator(tool.outputSchema);
    expect(answer.ok && validate(answer.data)).toMatchObject({ valid: true });
    expect(answer.ok && Object.keys(answer.data).toSorted()).toEqual(
      Object.keys(tool.outputSchema["properties"] as object).toSorted(),
    );
  }
});
