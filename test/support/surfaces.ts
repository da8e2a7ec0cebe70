import type { Contract } from "#shared/tools/define.ts";
import { mcpName } from "#control-plane/surfaces/mcp/check-tool.ts";
import type { Answer, TestControlPlane } from "#test/support/control-plane.ts";
import type { Call } from "#test/support/tool-calls.ts";

/** Answer of one surface: the tool's data, or the error in that surface's form. */
export type SurfaceAnswer = { readonly data: unknown } | { readonly error: Readonly<Record<string, unknown>> };

/** Answers to one call, by surface. */
export type Answers = ReadonlyMap<string, SurfaceAnswer>;

/** Calls a tool through REST v4 (GET and POST), the agent endpoint and, if it offers the tool, the open tier. */
export async function callEverySurface(
  plane: TestControlPlane,
  key: string,
  contract: Contract,
  params: Call,
): Promise<Answers> {
  const { name, open } = contract;
  const requests: Record<string, () => Promise<SurfaceAnswer>> = {
    "GET /api/v4": async () => readRestAnswer(await plane.call(`/api/v4/${name}?${query(params)}`, { key })),
    "POST /api/v4": () => callRest(plane, key, name, params),
    "POST /mcp": () => callAgentEndpoint(plane, key, name, params),
  };
  if (open !== undefined) {
    const { q, extra = [], name: openName = name } = open;
    const more = extra.flatMap((field) => (params[field] === undefined ? [] : [[field, params[field]] as const]));
    const asked = query({ q: params[q] ?? "", ...Object.fromEntries(more), format: "json" });
    requests["GET /api/open"] = async () => {
      const answer = await plane.call(`/api/open/${openName}?${asked}`);
      return answer.status === 200 ? { data: answer.body } : readRestAnswer(answer);
    };
  }
  const answers = Object.entries(requests).map(async ([surface, ask]) => [surface, await ask()] as const);
  return new Map(await Promise.all(answers));
}

/** Calls a tool through REST with a JSON body. */
export async function callRest(
  plane: TestControlPlane,
  key: string,
  tool: string,
  params: Call,
): Promise<SurfaceAnswer> {
  return readRestAnswer(await plane.call(`/api/v4/${tool}`, { key, body: params }));
}

/** Calls a tool through the agent endpoint, as an MCP client does. */
export async function callAgentEndpoint(
  plane: TestControlPlane,
  key: string,
  tool: string,
  params: Call,
): Promise<SurfaceAnswer> {
  const answer = await plane.call("/mcp", {
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: mcpName(tool), arguments: params } },
  });
  return readAgentAnswer(answer);
}

function query(params: Call): string {
  return new URLSearchParams(
    Object.entries(params).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
}

function readRestAnswer({ status, body, text }: Answer): SurfaceAnswer {
  if (status === 200) return { data: body.data };
  if (typeof body.error !== "object") throw new Error(`${status}: ${text}`);
  return { error: body.error };
}

function readAgentAnswer({ body, text }: Answer): SurfaceAnswer {
  const result = body["result"] as
    | {
        readonly isError?: boolean;
        readonly content: readonly { readonly text: string }[];
        readonly structuredContent?: unknown;
      }
    | undefined;
  if (result === undefined) throw new Error(text);
  if (result.isError !== true) return { data: result.structuredContent };
  return JSON.parse(result.content[0]?.text ?? "") as { readonly error: Readonly<Record<string, unknown>> };
}

interface Field {
  readonly key: string;
  readonly value: unknown;
  /** The object that contains the field. */
  readonly parent: Readonly<Record<string, unknown>>;
}

/** Fields that can differ between two runs of one check. */
const EXPECTED_DIFFERENCES: readonly ((field: Field) => boolean)[] = [
  // Durations, also in text.
  ({ key }) => /(?:^|_)(?:ms|us)$/.test(key),
  ({ key, value }) => key === "value" && typeof value === "string" && /^\d+ ms$/.test(value),
  ({ key, value }) => /^(?:detail|message)$/.test(key) && typeof value === "string" && /\bafter \d+ ms\b/.test(value),
  // When a check began, and when the check itself last saw a name at an address.
  ({ key }) => key === "observed_at" || key === "last_seen",
  // The server's clock, among its headers.
  ({ key, parent: { name } }) => key === "value" && typeof name === "string" && name.toLowerCase() === "date",
];

/** Replaces the values of all fields that can differ between two runs by a mark. Absent fields stay absent. */
export function comparable(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(comparable);
  if (typeof data !== "object" || data === null) return data;
  const parent = data as Readonly<Record<string, unknown>>;
  const mark = (key: string, value: unknown): unknown =>
    EXPECTED_DIFFERENCES.some((differs) => differs({ key, value, parent })) ? "differs by nature" : comparable(value);
  return Object.fromEntries(Object.entries(parent).map(([key, value]) => [key, mark(key, value)]));
}
