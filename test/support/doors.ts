import type { Contract } from "#shared/tools/define.ts";
import { mcpName } from "#control-plane/surfaces/mcp/tool-names.ts";
import type { Answer, TestControlPlane } from "#test/support/control-plane.ts";
import type { Call } from "#test/support/tool-calls.ts";

/** What came out of one door: the tool's data, or the error as that surface tells it. */
export type Told = { readonly data: unknown } | { readonly error: Readonly<Record<string, unknown>> };

/** One call's answers by door. */
export type Answers = ReadonlyMap<string, Told>;

/** Calls a tool through REST v4 (GET and POST), the agent endpoint and, where it is offered there, the open tier. */
export async function throughEveryDoor(
  plane: TestControlPlane,
  key: string,
  contract: Contract,
  params: Call,
): Promise<Answers> {
  const { name, open } = contract;
  const doors: Record<string, () => Promise<Told>> = {
    "GET /api/v4": async () => toldBy(await plane.call(`/api/v4/${name}?${query(params)}`, { key })),
    "POST /api/v4": () => throughRest(plane, key, name, params),
    "POST /mcp": () => throughAgentEndpoint(plane, key, name, params),
  };
  if (open !== undefined) {
    const { q, extra = [], name: openName = name } = open;
    const more = extra.flatMap((field) => (params[field] === undefined ? [] : [[field, params[field]] as const]));
    const asked = query({ q: params[q] ?? "", ...Object.fromEntries(more), format: "json" });
    doors["GET /api/open"] = async () => {
      const answer = await plane.call(`/api/open/${openName}?${asked}`);
      return answer.status === 200 ? { data: answer.body } : toldBy(answer);
    };
  }
  const told = Object.entries(doors).map(async ([door, ask]) => [door, await ask()] as const);
  return new Map(await Promise.all(told));
}

/** One call with a JSON body. */
export async function throughRest(plane: TestControlPlane, key: string, tool: string, params: Call): Promise<Told> {
  return toldBy(await plane.call(`/api/v4/${tool}`, { key, body: params }));
}

/** The same as an agent calls it. */
export async function throughAgentEndpoint(
  plane: TestControlPlane,
  key: string,
  tool: string,
  params: Call,
): Promise<Told> {
  const answer = await plane.call("/mcp", {
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: mcpName(tool), arguments: params } },
  });
  return toldByAgentEndpoint(answer);
}

function query(params: Call): string {
  return new URLSearchParams(
    Object.entries(params).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
}

function toldBy({ status, body, text }: Answer): Told {
  if (status === 200) return { data: body.data };
  if (typeof body.error !== "object") throw new Error(`${status}: ${text}`);
  return { error: body.error };
}

function toldByAgentEndpoint({ body, text }: Answer): Told {
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
  /** The object it stands in. */
  readonly around: Readonly<Record<string, unknown>>;
}

/** All that may differ between two runs of one check. */
const BY_NATURE: readonly ((field: Field) => boolean)[] = [
  // Durations, and those told in words.
  ({ key }) => /(?:^|_)(?:ms|us)$/.test(key),
  ({ key, value }) => key === "value" && typeof value === "string" && /^\d+ ms$/.test(value),
  ({ key, value }) => /^(?:detail|message)$/.test(key) && typeof value === "string" && /\bafter \d+ ms\b/.test(value),
  // When a check began; when a name was last seen at an address, where the check itself saw it.
  ({ key }) => key === "observed_at" || key === "last_seen",
  // The clock of the server, among its headers.
  ({ key, around: { name } }) => key === "value" && typeof name === "string" && name.toLowerCase() === "date",
];

/** The data with a mark in the place of everything that differs by nature; what is absent stays absent. */
export function comparable(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(comparable);
  if (typeof data !== "object" || data === null) return data;
  const around = data as Readonly<Record<string, unknown>>;
  const mark = (key: string, value: unknown): unknown =>
    BY_NATURE.some((differs) => differs({ key, value, around })) ? "differs by nature" : comparable(value);
  return Object.fromEntries(Object.entries(around).map(([key, value]) => [key, mark(key, value)]));
}
