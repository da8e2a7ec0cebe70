import { once } from "node:events";
import { Agent, request as startRequest, type IncomingMessage } from "node:http";
import type { Product } from "#test/bench/product.ts";
import { median, row, type Row } from "#test/bench/report.ts";

const MB = 1_048_576;
const ROUNDS = 3;
/** What a request may hold the loop for each MB of its body, milliseconds. */
const LEAST_ALLOWED_MS = 50;

/** A write, and the fields of its body that take a list, an object and a text. */
interface Target {
  readonly method: string;
  readonly path: string;
  readonly list: string;
  readonly object: string;
  readonly text: string;
  /** Size of its bodies, bytes. */
  readonly size?: number;
  /** Puts the members of an object, as JSON, into the body. Default: they are its own. */
  readonly wrap?: (members: string) => string;
}

const inRow = (members: string): string => `{"version":1,"monitors":[{${members}}]}`;
const call = (members: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"check","arguments":{${members}}}}`;

const TARGETS: readonly Target[] = [
  { method: "POST", path: "/api/v4/monitors", list: "expected_codes", object: "request_headers", text: "body" },
  { method: "POST", path: "/api/v4/monitors", list: "notify_emails", object: "heartbeat", text: "name" },
  { method: "PUT", path: "/api/v4/monitors?id=1", list: "expected_codes", object: "visual", text: "url" },
  { method: "POST", path: "/api/v3/monitors", list: "url", object: "url", text: "url" },
  {
    method: "POST",
    path: "/api/v4/monitors?action=import",
    list: "monitors",
    object: "monitors",
    text: "version",
    size: 4 * MB,
  },
  {
    method: "POST",
    path: "/api/v4/monitors?action=import&dry_run=1",
    list: "expected_codes",
    object: "request_headers",
    text: "body",
    size: 4 * MB,
    wrap: inRow,
  },
  { method: "POST", path: "/api/v4/batch", list: "urls", object: "urls", text: "type" },
  { method: "POST", path: "/api/v4/measurements", list: "locations", object: "params", text: "tool" },
  { method: "POST", path: "/api/v4/webhooks", list: "events", object: "headers", text: "secret" },
  { method: "PUT", path: "/api/v4/webhooks?id=1", list: "events", object: "filter", text: "url" },
  { method: "POST", path: "/api/v4/status", list: "monitors", object: "groups", text: "description" },
  { method: "POST", path: "/api/v4/incidents", list: "monitor_ids", object: "monitor_ids", text: "text" },
  { method: "PUT", path: "/api/v4/incidents?id=1", list: "acknowledged", object: "update", text: "note" },
  { method: "POST", path: "/api/v4/maintenance", list: "monitor_ids", object: "tags", text: "rrule" },
  { method: "POST", path: "/api/v4/check", list: "locations", object: "url", text: "url" },
  { method: "POST", path: "/api/v4/check?timeout=5", list: "url", object: "locations", text: "method" },
  { method: "POST", path: "/mcp", list: "locations", object: "url", text: "url", wrap: call },
];

/** The forms of hostile members: lists of numbers, texts and objects, many keys, deep nesting, one long text. */
const SHAPES: readonly (readonly [name: string, make: (target: Target, size: number) => string])[] = [
  ["numbers", ({ list }, size) => `"${list}":[${repeat("200", size)}]`],
  ["texts", ({ list }, size) => `"${list}":[${repeat('"a"', size)}]`],
  ["objects", ({ list }, size) => `"${list}":[${repeat("{}", size)}]`],
  ["deep", ({ list }, size) => `"${list}":[${repeat(`${"[".repeat(50)}${"]".repeat(50)}`, size)}]`],
  ["keys", (_target, size) => keys(size)],
  ["inner keys", ({ object }, size) => `"${object}":{${keys(size)}}`],
  ["long text", ({ text }, size) => `"${text}":"${"x".repeat(size)}"`],
  ["long name", (_target, size) => `"${"x".repeat(size)}":1`],
];

function repeat(item: string, size: number): string {
  return `${`${item},`.repeat(Math.floor(size / (item.length + 1)) - 1)}${item}`;
}

function keys(size: number): string {
  const members: string[] = [];
  for (let length = 0; length < size - 10;) {
    const member = `"k${members.length.toString(36)}":1`;
    members.push(member);
    length += member.length + 1;
  }
  return members.join(",");
}

/**
 * Sends the largest bodies that each write takes, in hostile forms, and measures how long the control plane answers
 * nobody else: the longest answer of /api/health on another connection meanwhile. The limit is twice the time that
 * JSON.parse of the body takes in this process, or 50 ms for each MB where that is more. Of each write the form is shown
 * that comes nearest to its limit.
 */
export async function benchSizes({ port, key }: Product): Promise<Row[]> {
  const rows: Row[] = [];
  for (const target of TARGETS) {
    let worst = row("", 0, "ms", { atMost: 1 });
    for (const [shape, make] of SHAPES) {
      const { method, path, size = MB, wrap = (members: string) => `{${members}}` } = target;
      const body = wrap(make(target, size - 200));
      const parses: number[] = [];
      const holds: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const startedAt = performance.now();
        JSON.parse(body);
        parses.push(performance.now() - startedAt);
        holds.push(await holdOf(port, key, target, body));
      }
      const atMost = Math.ceil(Math.max(2 * median(parses), (LEAST_ALLOWED_MS * body.length) / MB));
      const held = row(`loop held, ${shape}: ${method} ${path}`, median(holds), "ms", { atMost });
      if (shareOf(held) > shareOf(worst)) worst = held;
    }
    rows.push(worst);
  }
  return rows;
}

function shareOf({ value, atMost = 1 }: Row): number {
  return value / atMost;
}

/** Returns the longest time, in milliseconds, for which health was not answered while the service had the request. */
async function holdOf(port: number, key: string, { method, path }: Target, body: string): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const isDone = { now: false };
  const hostile = send(port, { method, path, key, body }).then((status) => {
    isDone.now = true;
    return status;
  });
  let longest = 0;
  while (!isDone.now) {
    const startedAt = performance.now();
    await send(port, { method: "GET", path: "/api/health", agent });
    longest = Math.max(longest, performance.now() - startedAt);
  }
  const status = await hostile;
  agent.destroy();
  if (status >= 500) throw new Error(`${method} ${path}: ${status}`);
  return longest;
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly key?: string;
  readonly body?: string;
  readonly agent?: Agent;
}

/** Sends a request and reads its answer; returns the status. */
async function send(port: number, { method, path, key, body, agent }: Sent): Promise<number> {
  const request = startRequest({
    port,
    host: "127.0.0.1",
    method,
    path,
    agent: agent ?? new Agent(),
    headers: {
      ...(key === undefined ? {} : { "x-api-key": key }),
      ...(body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
    },
  });
  request.end(body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
  return response.statusCode ?? 0;
}
