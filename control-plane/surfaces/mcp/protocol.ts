import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  Server,
  WebStandardStreamableHTTPServerTransport,
  type AuthInfo,
} from "@modelcontextprotocol/server";
import type { Coding } from "#control-plane/http/accept-encoding.ts";
import type { Principal } from "#control-plane/access/principal.ts";
import { callTool } from "#control-plane/surfaces/mcp/result.ts";
import { createSameAnswers } from "#control-plane/surfaces/mcp/same-answers.ts";
import type { McpTool } from "#control-plane/surfaces/mcp/tool.ts";

/** One JSON-RPC message as it came by HTTP. */
export interface McpMessage {
  /** The parsed body. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Those of the request that the protocol reads (MCP-Protocol-Version, Mcp-Method, ...). */
  readonly headers: Readonly<Record<string, string>>;
  readonly url: string;
  readonly principal: Principal;
  /** That the client would have the answer in. */
  readonly coding: Coding;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
}

/** An answer as it is sent. Only lists come in a coding: what a tool says may hold a secret beside a caller's words. */
export interface McpAnswer {
  readonly status: number;
  /** UTF-8; empty where there is none. */
  readonly body: string | Buffer;
  readonly coding: Coding;
}

/** The Model Context Protocol over stateless HTTP, in every revision the library speaks. */
export interface McpProtocol {
  /** The answer to one message; 202 without a body to notifications. */
  answer(message: McpMessage): Promise<McpAnswer>;
  close(): Promise<void>;
}

/** How long clients of the 2026 revision may keep the list: it changes with a release. */
const LIST_TTL_MS = 3_600_000;
const INVALID_PARAMS = -32_602;
const INSTRUCTIONS =
  "Diagnostics of public web sites, hosts, domains and mail systems, run by probes in several places. Each tool takes a " +
  "target and an optional `locations` (regions, countries, cities; GET /api/v4/probes lists them).";

/** Serves the tools to both eras of clients: those that begin with initialize and those that carry all in each request. */
export function createProtocol(
  tools: readonly McpTool[],
  version: string,
  onError: (error: Error) => void,
): McpProtocol {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const listed = { tools: tools.map(descriptionOf) };

  function createServer(authInfo: AuthInfo | undefined): Server {
    const server = new Server(
      { name: "vantage", title: "Vantage", version },
      {
        capabilities: { tools: {} },
        instructions: INSTRUCTIONS,
        cacheHints: {
          "tools/list": { ttlMs: LIST_TTL_MS, cacheScope: "public" },
          "server/discover": { ttlMs: LIST_TTL_MS, cacheScope: "public" },
        },
      },
    );
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the library's own hook, no event target
    server.onerror = onError;
    server.setRequestHandler("tools/list", () => listed as never);
    server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
      const tool = byName.get(params.name);
      if (tool === undefined) throw new ProtocolError(INVALID_PARAMS, `There is no tool ${params.name.slice(0, 100)}.`);
      return (await callTool(tool, principalOf(authInfo), params.arguments ?? {}, mcpReq.signal)) as never;
    });
    return server;
  }

  const modern = createMcpHandler(({ authInfo }) => createServer(authInfo), { legacy: "reject", onerror: onError });

  async function answerLegacy(
    request: Request,
    options: { parsedBody: unknown; authInfo: AuthInfo },
  ): Promise<Response> {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    const server = createServer(options.authInfo);
    await server.connect(transport);
    try {
      return await transport.handleRequest(request, options);
    } finally {
      await server.close();
    }
  }

  async function ask({ body, headers, url, principal, signal }: McpMessage): Promise<Response> {
    const request = new Request(url, {
      method: "POST",
      headers: { ...headers, accept: "application/json, text/event-stream", "content-type": "application/json" },
      body: "{}",
      signal,
    });
    const options = { parsedBody: body, authInfo: authInfoOf(principal) };
    return (await isLegacyRequest(request, body)) ? answerLegacy(request, options) : modern.fetch(request, options);
  }

  const lists = createSameAnswers();

  return {
    async answer(message) {
      const { id, method, ...rest } = message.body;
      if (method === "tools/list" && (typeof id === "string" || typeof id === "number")) {
        const wording = JSON.stringify([message.headers, rest]);
        return lists.get({ wording, id, coding: message.coding }, (standIn) =>
          ask({ ...message, body: { ...message.body, id: standIn } }),
        );
      }
      const response = await ask(message);
      return { status: response.status, body: await response.text(), coding: "identity" };
    },
    close: () => modern.close(),
  };
}

/** The key itself stays at the gate: the library and its handlers have no use for it. */
function authInfoOf(principal: Principal): AuthInfo {
  return { token: "", clientId: String(principal.accountId), scopes: [...principal.scopes], extra: { principal } };
}

function principalOf(authInfo: AuthInfo | undefined): Principal {
  const principal = authInfo?.extra?.["principal"];
  if (principal === undefined) throw new Error("this endpoint has no gate before it");
  return principal as Principal;
}

function descriptionOf({ name, title, description, inputSchema, outputSchema, openWorld }: McpTool) {
  return {
    name,
    title,
    description,
    inputSchema,
    outputSchema,
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: openWorld },
  };
}
