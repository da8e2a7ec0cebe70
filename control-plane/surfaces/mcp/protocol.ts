import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  Server,
  WebStandardStreamableHTTPServerTransport,
  type AuthInfo,
} from "@modelcontextprotocol/server";
import { nearestName } from "#shared/text/nearest-name.ts";
import { TOOLSETS, type Toolset } from "#shared/tools/define.ts";
import type { Coding } from "#control-plane/http/accept-encoding.ts";
import { type Principal, hasScope } from "#control-plane/http/access/principal.ts";
import type { McpTool, ToolAnswer } from "#control-plane/surfaces/mcp/mcp-tool.ts";
import { outOfScope } from "#control-plane/http/gate.ts";
import { errorFields } from "#control-plane/http/envelope.ts";
import { LRUCache } from "lru-cache";
import { codeText, joinCoded, type CodedText } from "#control-plane/http/coded-text.ts";

/**
 * Instructions in the response to initialize. They hold what is the same for every tool, so that no tool repeats it.
 * Hosts give them to the model together with the list of tools.
 */
const INSTRUCTIONS = `Vantage checks public web sites, hosts, domains and mail systems from probes in one or many locations.

Arguments: every check takes its target and an optional \`locations\`, an array of locations to run from. Without it one probe runs the check. Each item is a region, a country (ISO code, DE), a continent (africa, asia, europe, north-america, south-america, oceania, antarctica), a city (with hyphens for spaces), a network (AS64500), a tag, probe:<id>, nearest (the closest probe) or all (one probe in each region). + joins terms that must all match (europe+AS64500); ! negates a term (europe+!DE), and an item such as !DE removes these locations; :n at the end asks for n probes (DE:3). The error for an unknown location lists the known ones.

Results: output schemas name the top-level fields of a result, and descriptions name the fields inside a list or an object. Every result also has observed_at (start of the check, ISO 8601 UTC) and limitations (what could not be determined, one sentence each); most have elapsed_ms and source (origin of the data). Names that end in _ms are milliseconds. null: unknown or absent. With \`locations\` the result is {locations: [{location, status: ok or failed, data or error, duration_ms}], summary}, where each data has the tool's fields.

Errors: a failed call is a result with isError and {error: {code, message, field, reason, retry_after_seconds}}; the message says what to change.`;

/** A JSON-RPC message received over HTTP. */
interface McpMessage {
  /** The parsed body. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Header fields that the protocol reads (MCP-Protocol-Version, Mcp-Method, ...). */
  readonly headers: Readonly<Record<string, string>>;
  readonly url: string;
  readonly principal: Principal;
  /** Selected toolsets; tools of other sets do not exist for this message. */
  readonly toolsets: ReadonlySet<Toolset>;
  /** Coding that the client prefers. */
  readonly coding: Coding;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

/** An answer to send. Only lists are compressed: a tool result can contain a secret next to input of the caller. */
interface McpAnswer {
  readonly status: number;
  /** Body in UTF-8, possibly empty. */
  readonly body: string | Buffer;
  readonly coding: Coding;
}

/** The Model Context Protocol over stateless HTTP, in every revision the library speaks. */
export interface McpProtocol {
  /** Returns the answer to one message; 202 without body for notifications. */
  answer(message: McpMessage): Promise<McpAnswer>;
  close(): Promise<void>;
}

/** Time for which clients of the 2026 revision can cache the list: it changes with a release. */
const LIST_TTL_MS = 3_600_000;
const INVALID_PARAMS = -32_602;
const LONGEST_NAME = 100;

/** Creates the protocol for both kinds of clients: with initialize, and stateless ones. */
export function createProtocol(
  tools: readonly McpTool[],
  version: string,
  onError: (error: Error) => void,
): McpProtocol {
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
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a hook of the library, not an event target
    server.onerror = onError;
    const { principal, toolsets } = callerOf(authInfo);
    const offered = tools.filter(({ toolset }) => toolsets.has(toolset));
    server.setRequestHandler("tools/list", () => ({ tools: offered.map(describeTool) }));
    server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
      const tool = offered.find(({ name }) => name === params.name);
      if (tool === undefined) throw new ProtocolError(INVALID_PARAMS, describeUnknown(params.name, offered));
      return (await callTool(tool, principal, params.arguments ?? {}, mcpReq.signal)) as never;
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

  async function ask({ body, headers, url, principal, toolsets, signal }: McpMessage): Promise<Response> {
    const request = new Request(url, {
      method: "POST",
      headers: { ...headers, accept: "application/json, text/event-stream", "content-type": "application/json" },
      body: "{}",
      signal,
    });
    const options = { parsedBody: body, authInfo: authInfoOf({ principal, toolsets }) };
    return (await isLegacyRequest(request, body)) ? answerLegacy(request, options) : modern.fetch(request, options);
  }

  const lists = createListCache();

  return {
    async answer(message) {
      const { id, method, ...rest } = message.body;
      if (method === "tools/list" && (typeof id === "string" || typeof id === "number")) {
        const asked = TOOLSETS.filter((toolset) => message.toolsets.has(toolset));
        const wording = JSON.stringify([asked, message.headers, rest]);
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

/** The caller of a message and the toolsets it selected. */
type Caller = Pick<McpMessage, "principal" | "toolsets">;

/** Returns what the library passes to its handlers; they do not need the key itself. */
function authInfoOf({ principal, toolsets }: Caller): AuthInfo {
  const extra = { caller: { principal, toolsets } };
  return { token: "", clientId: String(principal.accountId), scopes: [...principal.scopes], extra };
}

function callerOf(authInfo: AuthInfo | undefined): Caller {
  const caller = authInfo?.extra?.["caller"];
  if (caller === undefined) throw new Error("this endpoint has no gate before it");
  return caller as Caller;
}

function describeTool({ name, title, description, inputSchema, outputSchema, openWorld }: McpTool) {
  // Without the first two, hosts treat a tool as destructive. openWorldHint is true by default.
  const annotations = { readOnlyHint: true, destructiveHint: false, ...(openWorld ? {} : { openWorldHint: false }) };
  return { name, title, description, inputSchema, outputSchema, annotations };
}

function describeUnknown(name: string, tools: readonly McpTool[]): string {
  const nearest = nearestName(
    name,
    tools.map((tool) => tool.name),
  );
  const hint = nearest === null ? "tools/list lists the tools." : `Did you mean ${nearest}?`;
  return `No tool has the name ${name.slice(0, LONGEST_NAME)}. ${hint}`;
}

/** The result of tools/call. */
interface CallResult {
  readonly content: readonly [{ readonly type: "text"; readonly text: string }];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: true;
}

/** Runs a tool after a check of the caller's scope. */
async function callTool(
  tool: McpTool,
  principal: Principal,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<CallResult> {
  if (!hasScope(principal.scopes, tool.scope)) {
    const { code, details } = outOfScope(tool.scope, principal);
    return resultOf({ ok: false, code, details });
  }
  return resultOf(await tool.call(principal, args, signal));
}

/** Returns the result. Its text is what the tool writes, or else the same JSON as the structured content. */
function resultOf(answer: ToolAnswer): CallResult {
  if (answer.ok) {
    return {
      content: [{ type: "text", text: answer.text ?? JSON.stringify(answer.data) }],
      structuredContent: answer.data,
    };
  }
  const error = errorFields(answer.code, answer.details);
  return { content: [{ type: "text", text: JSON.stringify({ error }) }], isError: true };
}

/** An answer that differs between clients only by the id of the request. */
interface CachedList {
  readonly status: number;
  /** The octets before the id; almost the whole answer, because the library writes the id last. */
  readonly before: CodedText;
  readonly after: Buffer;
}

/** Cached answers of methods whose result depends only on the text of the request. */
interface ListCache {
  /** Returns the answer to a message in a coding; calls `make` once for each wording. */
  get(
    call: { readonly wording: string; readonly id: string | number; readonly coding: Coding },
    make: (standIn: string) => Promise<Response>,
  ): Promise<{ readonly status: number; readonly body: Buffer; readonly coding: Coding }>;
}

/** Placeholder of the id; no client uses it. */
const STAND_IN = "vantage-id-0b1f6c8e";
/** Maximum number of cached lists of at most 64 KB each; wordings differ by toolsets, client name and revision. */
const MOST_WORDINGS = 30;
const LONGEST_WORDING = 10_000;
/** A shorter answer, such as an error, is not compressed. */
const LEAST_CODED = 1_024;

/**
 * Creates an empty cache. The library serialises a list for each request, which takes ten times as long as the rest of the
 * answer; cached octets also need no encoding.
 */
function createListCache(): ListCache {
  const known = new LRUCache<string, CachedList>({ max: MOST_WORDINGS });
  return {
    async get({ wording, id, coding }, make) {
      let answer = known.get(wording);
      if (answer === undefined) {
        const response = await make(STAND_IN);
        const [before = "", after = ""] = (await response.text()).split(JSON.stringify(STAND_IN), 2);
        answer = { status: response.status, before: codeText(Buffer.from(before)), after: Buffer.from(after) };
        if (response.status === 200 && wording.length <= LONGEST_WORDING) known.set(wording, answer);
      }
      const after = Buffer.concat([Buffer.from(JSON.stringify(id)), answer.after]);
      const fits = answer.before.raw.length < LEAST_CODED ? "identity" : coding;
      return { status: answer.status, body: await joinCoded(fits, answer.before, { after }), coding: fits };
    },
  };
}
