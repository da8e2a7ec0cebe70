import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { CONTRACTS } from "#shared/tools/index.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { useAgent } from "#test/support/agent-process.ts";
import { freePort } from "#test/support/free-port.ts";
import { startControlPlane, type Answer } from "#test/support/control-plane.ts";
import { inOneMinute } from "#test/support/one-minute.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const plane = await stopAfterAll(startControlPlane());
useAgent(plane, "local");
const key = await plane.createKey();
const site = await stopAfterAll(startHttpServer());

interface Sent {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly id?: unknown;
}

/** Sends one JSON-RPC request as curl does: no Accept, no session, no handshake. */
function ask(method: string, params: unknown = {}, { token = key, headers = {}, id = 1 }: Sent = {}): Promise<Answer> {
  return plane.call("/mcp", {
    headers: { "content-type": "application/json", authorization: `Bearer ${token}`, ...headers },
    body: { jsonrpc: "2.0", id, method, params },
  });
}

function resultOf(body: Answer["body"]): unknown {
  return body["result"];
}

interface Listed {
  readonly name: string;
  readonly inputSchema: { readonly type: string; readonly required?: readonly string[]; readonly properties: object };
  readonly outputSchema: { readonly type: string };
  readonly annotations: object;
}

async function listTools(): Promise<readonly Listed[]> {
  const { body } = await ask("tools/list");
  return (resultOf(body) as { readonly tools: readonly Listed[] }).tools;
}

describe("a client without MCP support, such as curl,", () => {
  it("lists the tools under their published names, each with schemas and annotations", async () => {
    const tools = await listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toContain("check_headers");
    expect(names).toContain("check_ssl");
    expect(names.length).toBeGreaterThanOrEqual(CONTRACTS.length);
    for (const tool of tools) {
      expect(tool.name).toMatch(/^(check|get|list)_[a-z_]+$/);
      expect(tool.inputSchema.type).toBe("object");
      expect(tool.outputSchema.type).toBe("object");
      expect(tool.annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
    }
  });

  it("calls a tool and gets its data, and the answer in words", async () => {
    const { status, headers, body } = await ask("tools/call", {
      name: "check_headers",
      arguments: { url: `${site.url}/status/204`, follow: false },
    });
    expect(status).toBe(200);
    expect(headers.get("content-type")).toContain("application/json");
    const result = resultOf(body) as { content: { text: string }[]; structuredContent: object; isError?: boolean };
    expect(result.isError).toBeUndefined();
    expect(result.structuredContent).toMatchObject({ code: 204, url: `${site.url}/status/204` });
    const [headline, ...facts] = result.content[0]?.text.split("\n") ?? [];
    expect(headline).toMatch(/^good: http:\/\/.+ answers 204 /);
    expect(facts).toContain("Protocol: HTTP/1.1");
  });

  it("runs a tool at several locations", async () => {
    const { body } = await ask("tools/call", {
      name: "check_headers",
      arguments: { url: `${site.url}/`, locations: ["local"] },
    });
    const { structuredContent } = resultOf(body) as { structuredContent: object };
    expect(structuredContent).toMatchObject({
      locations: [{ status: "ok", data: { code: 200 } }],
      summary: { total: 1, ok: 1 },
    });
  });
});

describe("get_batch", () => {
  it("returns the caller's own batches only", async () => {
    const { body } = await plane.call("/api/v4/batch", { key, body: { urls: [`${site.url}/status/202`] } });
    const { job_id: id } = body.data as { job_id: string };
    const call = { name: "get_batch", arguments: { job_id: id } };
    const get = async (token = key) => resultOf((await ask("tools/call", call, { token })).body);
    await expect.poll(() => get()).toMatchObject({ structuredContent: { status: "completed", total: 1 } });
    const rest = await plane.call(`/api/v4/batch?job_id=${id}`, { key });
    // A client of this endpoint calls this tool again and has no use for a path of the API.
    const { poll_url: _path, ...data } = rest.body.data as Record<string, unknown>;
    expect(await get()).toMatchObject({ structuredContent: data });
    expect(JSON.stringify(await get())).not.toContain("poll_url");
    expect(JSON.stringify(await get(await plane.createKey()))).toContain("not_found");
  });
});

describe("an error", () => {
  it.each([
    ["a dead target", { url: "http://127.0.0.1:{closed}/" }, { code: "request_failed", stage: "connect" }],
    ["a private target", { url: "http://10.0.0.1/" }, { code: "target_not_allowed" }],
    ["a missing argument", {}, { code: "missing_parameter", field: "url", reason: "required" }],
    [
      "an unknown argument",
      { url: "http://a.example/", colour: "red" },
      { code: "missing_parameter", reason: "unknown" },
    ],
    ["a number as text", { url: "http://a.example/", timeout: "5" }, { code: "missing_parameter", field: "timeout" }],
    ["a switch as text", { url: "http://a.example/", follow: "no" }, { message: "follow: must be true or false." }],
    ["an unknown place", { url: "http://a.example/", locations: ["mars"] }, { reason: "unknown_location" }],
  ])("%s is a result that the caller can read", async (_case, args, error) => {
    const closed = String(await freePort());
    const given = JSON.parse(JSON.stringify(args).replace("{closed}", closed)) as object;
    const { status, body } = await ask("tools/call", { name: "check_headers", arguments: given });
    expect(status).toBe(200);
    const result = resultOf(body) as { isError: boolean; content: { text: string }[] };
    expect(result.isError).toBe(true);
    expect(JSON.parse(result.content[0]?.text ?? "")).toMatchObject({ error });
    expect(result.content[0]?.text).not.toMatch(/\/api\/|\b(GET|POST) \//);
  });

  it("is a JSON-RPC error for violations of the protocol", async () => {
    expect((await ask("tools/call", { name: "check_nothing" })).body.error).toMatchObject({ code: -32_602 });
    expect((await ask("no/such/method")).body.error).toMatchObject({ code: -32_601 });
    const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
    const broken = await plane.call("/mcp", { headers, body: "{nonsense" });
    expect([broken.status, broken.body.error]).toMatchObject([400, { code: -32_700 }]);
    const deep = await plane.call("/mcp", { headers, body: `{"a":${"[".repeat(200_000)}` });
    expect([deep.status, deep.body.error]).toMatchObject([400, { code: -32_700 }]);
    const batch = await plane.call("/mcp", { headers, body: "[]" });
    expect([batch.status, batch.body.error]).toMatchObject([400, { code: -32_600 }]);
  });

  it("is returned without a key, which is read from either header, X-API-Key first", async () => {
    const body = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const listed = await plane.call("/mcp", { key, body });
    expect(listed.status).toBe(200);
    const both = await plane.call("/mcp", { key, headers: { authorization: "Bearer nonsense" }, body });
    expect(both.status).toBe(200);
    const other = await plane.call("/mcp", { key: "nonsense", headers: { authorization: `Bearer ${key}` }, body });
    expect(other.status).toBe(401);
    const none = await plane.call("/mcp", { body });
    expect([none.status, none.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(none.body.error).toMatchObject({
      message: expect.stringMatching(/X-API-Key.*Authorization: Bearer/) as string,
    });
  });

  it("names the scope that a key lacks, as a result", async () => {
    const free = await plane.createKey("free");
    const { status, body } = await ask(
      "tools/call",
      { name: "check_ssl", arguments: { host: "a.example" } },
      { token: free },
    );
    expect(status).toBe(200);
    expect(body["result"]).toMatchObject({ isError: true });
    expect(JSON.stringify(body["result"])).toContain("insufficient_scope");
  });

  it("asks for a key as Bearer and for no other scheme", async () => {
    const none = await plane.call("/mcp", { body: { jsonrpc: "2.0", id: 1, method: "tools/list" } });
    expect(none.status).toBe(401);
    expect(none.headers.get("www-authenticate")).toBe("Bearer");
    expect(none.body.error).toMatchObject({ data: { code: "auth_required" } });
    const wrong = await ask("tools/list", {}, { token: "vtg_wrong" });
    expect([wrong.status, wrong.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
  });

  it("is 405 for other methods, and pages of other origins are refused", async () => {
    for (const method of ["GET", "DELETE"]) expect((await plane.call("/mcp", { method })).status).toBe(405);
    const { origin } = new URL(plane.app.config.baseUrl);
    expect((await ask("tools/list", {}, { headers: { origin } })).status).toBe(200);
    expect((await ask("tools/list", {}, { headers: { origin: "https://evil.example" } })).status).toBe(403);
  });

  it("counts calls against the day and other requests only against the minute, with the time to wait", async () => {
    const answers = await inOneMinute(async () => {
      const free = await plane.createKey("free");
      const pings: Answer[] = [];
      for (let count = 0; count < 10; count += 1) pings.push(await ask("ping", {}, { token: free }));
      return [...pings, await ask("tools/list", {}, { token: free, id: "seven" })];
    });
    expect(answers.map(({ status }) => status)).toEqual([...Array<number>(10).fill(200), 429]);
    const over = answers.at(-1);
    expect(over?.body).toMatchObject({
      id: "seven",
      error: {
        code: -32_005,
        data: { code: "rate_limit_exceeded", retry_after_seconds: expect.any(Number) as number },
      },
    });
    expect(over?.headers.get("ratelimit")).toContain('"day";r=100');
  });
});

describe("a toolset", () => {
  it("is the whole catalogue of the request, for lists and for calls", async () => {
    const send = async (path: string, method: string, params: object = {}) => {
      const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
      return plane.call(path, { headers, body: { jsonrpc: "2.0", id: "a", method, params } });
    };
    const { body } = await send("/mcp?toolset=mail,dns", "tools/list");
    const names = (resultOf(body) as { readonly tools: readonly Listed[] }).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["check_mx", "check_dns"]));
    expect(names).not.toContain("check_headers");
    const call = { name: "check_headers", arguments: { url: "http://10.0.0.1/" } };
    expect((await send("/mcp?toolset=mail", "tools/call", call)).body.error).toMatchObject({ code: -32_602 });
    expect(resultOf((await send("/mcp?toolset=web", "tools/call", call)).body)).toMatchObject({ isError: true });
  });

  it.each(["toolset=web,nope", "toolset=", "toolset=web&toolset=dns"])(
    "%s is refused with a list of the toolsets",
    async (query) => {
      const answer = await plane.call(`/mcp?${query}`, {
        key,
        body: { jsonrpc: "2.0", id: "a", method: "tools/list" },
      });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({
        id: "a",
        error: { code: -32_602, message: expect.stringMatching(/toolset/) as string },
      });
    },
  );
});

describe("the official client", () => {
  it.each([
    ["2025-11-25", "Authorization", ""],
    ["2026-07-28", "X-API-Key", ""],
    ["2025-11-25", "X-API-Key", "?toolset=web"],
    ["2026-07-28", "Authorization", "?toolset=web"],
  ])("lists and calls in revision %s with its key in %s at /mcp%s", async (revision, header, query) => {
    const client = new Client(
      { name: "test", version: "1" },
      revision === "2026-07-28" ? { versionNegotiation: { mode: { pin: revision } } } : {},
    );
    const transport = new StreamableHTTPClientTransport(new URL(`${plane.url}/mcp${query}`), {
      requestInit: { headers: { [header]: header === "Authorization" ? `Bearer ${key}` : key } },
    });
    await client.connect(transport);
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    expect(client.getInstructions()).toContain("europe+AS64500");
    const { tools } = await client.listTools();
    if (query === "") expect(tools.length).toBeGreaterThanOrEqual(CONTRACTS.length);
    else expect(tools.length).toBe(CONTRACTS.filter(({ toolset }) => toolset === "web").length);
    // The first call compiles every schema on this thread, which is the control plane's too, so on a busy machine the
    // agent may count as silent meanwhile. This call is refused without an agent.
    const failed = await client.callTool({ name: "check_headers", arguments: { url: "http://10.0.0.1/" } });
    expect(failed.isError).toBe(true);
    const regions = async () => (await plane.call("/api/v4/probes", { key })).body.data as unknown;
    await expect.poll(regions).toMatchObject({ regions: [{ online: 1 }] });
    const result = await client.callTool({ name: "check_headers", arguments: { url: `${site.url}/status/404` } });
    expect(result.structuredContent).toMatchObject({ code: 404 });
    await client.close();
  });
});
