import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv";
import { describe, expect, it } from "vitest";
import { TOOLSETS } from "#shared/tools/define.ts";
import { CONTRACTS } from "#shared/tools/index.ts";
import { checkTool } from "#control-plane/surfaces/mcp/check-tool.ts";
import { getBatchTool } from "#control-plane/surfaces/mcp/get-batch.ts";
import { getMonitorTool } from "#control-plane/surfaces/mcp/get-monitor.ts";
import { getStatusPageTool } from "#control-plane/surfaces/mcp/get-status-page.ts";
import { listEventsTool } from "#control-plane/surfaces/mcp/list-events.ts";
import { listWebhooksTool } from "#control-plane/surfaces/mcp/list-webhooks.ts";
import { listMonitorsTool } from "#control-plane/surfaces/mcp/list-monitors.ts";
import { createProtocol } from "#control-plane/surfaces/mcp/protocol.ts";
import { COMMON_FIELDS, type JsonSchema } from "#control-plane/surfaces/mcp/publish-schemas.ts";
import { readToolsets } from "#control-plane/surfaces/mcp/routes.ts";
import { exampleOf } from "#control-plane/surfaces/api-document/components.ts";

/** 64 KB for all tools. */
const MOST_BYTES = 65_536;

// No tool is called here: the tools are only listed.
const OWN = [
  ...[getBatchTool, listMonitorsTool, getMonitorTool, getStatusPageTool].map((create) => create(null as never)),
  ...[listWebhooksTool, listEventsTool].map((create) => create(null as never, null as never)),
];
const TOOLS = [...CONTRACTS.map((contract) => checkTool(null as never, contract)), ...OWN];
const protocol = createProtocol(TOOLS, "1.0.0", (error) => {
  throw error;
});
const PRINCIPAL = { accountId: 1, scopes: [] } as never;

interface Listed {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema & { readonly properties: Readonly<Record<string, { readonly type?: unknown }>> };
}

/** Returns tools/list for a client of this revision and this value of the `toolset` parameter. */
async function list(toolset?: string, revision = "2025-11-25") {
  const asked = readToolsets(toolset);
  if (!asked.ok) throw new Error(asked.message);
  const meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const isModern = revision === "2026-07-28";
  const { body } = await protocol.answer({
    body: { jsonrpc: "2.0", id: 1, method: "tools/list", ...(isModern ? { params: { _meta: meta } } : {}) },
    headers: { "mcp-protocol-version": revision, ...(isModern ? { "mcp-method": "tools/list" } : {}) },
    url: "http://localhost/mcp",
    principal: PRINCIPAL,
    toolsets: asked.toolsets,
    coding: "identity",
    signal: new AbortController().signal,
  });
  const { result } = JSON.parse(String(body)) as { readonly result: { readonly tools: readonly Listed[] } };
  return { bytes: Buffer.byteLength(body), tools: result.tools };
}

const { tools, bytes } = await list();

describe("tools/list", () => {
  it("has all tools, which fit the context of a model", () => {
    expect(tools).toHaveLength(TOOLS.length);
    expect(bytes).toBeLessThanOrEqual(MOST_BYTES);
  });

  it.each(tools.map((tool) => [tool.name, tool] as const))("publishes valid schemas of %s", (_name, tool) => {
    const validator = new AjvJsonSchemaValidator();
    for (const schema of [tool.inputSchema, tool.outputSchema]) {
      expect(schema.type).toBe("object");
      // Compiles the schema, and throws if it is not valid.
      expect(validator.getValidator(schema as never)({}).valid).toBe(schema["required"] === undefined);
    }
  });

  it.each(CONTRACTS.map((contract, index) => [contract.name, contract, tools[index]] as const))(
    "names every top-level field of %s with its type, once, and its recorded answer is valid",
    (name, contract, tool) => {
      const { properties = {} } = tool?.outputSchema ?? {};
      const expected = Object.keys(contract.result.properties).filter((field) => !COMMON_FIELDS.includes(field));
      expect(Object.keys(properties)).toEqual(expected);
      const validate = new AjvJsonSchemaValidator().getValidator(tool?.outputSchema as never);
      const data = exampleOf(name)?.data;
      expect(validate(data)).toMatchObject({ valid: true });
      expect(validate({ locations: [{ status: "ok", data }], summary: { total: 1 } })).toMatchObject({ valid: true });
      // The schema is specific: a wrong type is refused.
      const [field = ""] = Object.entries(properties).find(([, { type }]) => typeof type === "string") ?? [];
      expect(
        validate({ ...data, [field]: { wrong: [] }, ...(properties[field]?.type === "object" ? { [field]: 1 } : {}) })
          .valid,
      ).toBe(false);
    },
  );

  it("describes only tools to a model, never a path of the API or the syntax of a query", () => {
    for (const tool of tools)
      expect(JSON.stringify(tool)).not.toMatch(/\/api\/|poll_url|\b(GET|POST) \/|[a-z]=[a-z0-9]/);
  });
});

describe("a toolset", () => {
  it.each(["2025-11-25", "2026-07-28"])(
    "contains only its own tools in revision %s, and the sets contain every tool once",
    async (revision) => {
      const names: string[] = [];
      for (const toolset of TOOLSETS) {
        const part = await list(toolset, revision);
        expect(part.tools.length, toolset).toBeGreaterThan(0);
        names.push(...part.tools.map(({ name }) => name));
      }
      expect(names.toSorted()).toEqual(tools.map(({ name }) => name).toSorted());
      const two = await list(" DNS,tls", revision);
      expect(two.tools.map(({ name }) => name).toSorted()).toEqual(["check_dns", "check_propagation", "check_ssl"]);
    },
  );

  it("is refused with the known sets if it is unknown", () => {
    expect(readToolsets("web,mial")).toMatchObject({
      ok: false,
      message: expect.stringMatching(/"mial".*Did you mean mail.*web, page/) as string,
    });
    expect(readToolsets("")).toMatchObject({ ok: false });
    expect(readToolsets(["web", "dns"])).toMatchObject({ ok: false });
  });
});
