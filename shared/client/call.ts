import { describeError } from "#shared/contracts/error-code.ts";
import { createEventReader, parseJson, type OnEvent } from "#shared/client/event-stream.ts";
import { agentFor } from "#shared/client/proxies.ts";
import { isRecord } from "#shared/text/is-record.ts";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";

/** An HTTP response of the service. */
interface Answer {
  /** HTTP status; 0 for the error at the end of a stream, which has none. */
  readonly status: number;
  /** The parsed JSON body; null if the body is not JSON. */
  readonly body: unknown;
}

/** One request to the service. */
export interface Call {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  /** The operator token, sent as a bearer token. */
  readonly token?: string;
  /** An account's API key. */
  readonly key?: string;
  readonly json?: unknown;
  readonly timeoutMs?: number;
  /** true: the URL is a listener of this machine, so the name in its certificate is not checked. */
  readonly own?: boolean;
  /** Asks for a stream and receives its events. The body of the answer is then that of the event `done`. */
  readonly onEvent?: OnEvent;
  /** Ends the request, which then rejects. */
  readonly signal?: AbortSignal;
}

/** A request as it is sent. */
interface OpenCall {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** true: the URL is a listener of this machine, so the name in its certificate is not checked. */
  readonly own?: boolean;
  /** Ends the request and its response. */
  readonly signal?: AbortSignal;
  /** The exchange ends with an error after this time without a byte, milliseconds. */
  readonly idleMs?: number;
}

const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** Sends a request; resolves with its response as the head has arrived. Rejects if there is none. */
export function openCall(url: string, call: OpenCall): Promise<IncomingMessage> {
  const { method, headers: given, body = "", own = false, signal, idleMs } = call;
  const headers = body.length === 0 ? given : { ...given, "content-length": String(Buffer.byteLength(body)) };
  const options = { method, headers, agent: agentFor(url), ...(signal === undefined ? {} : { signal }) };
  return new Promise((resolve, reject) => {
    const request = url.startsWith("https:")
      ? httpsRequest(url, { ...options, rejectUnauthorized: !own })
      : httpRequest(url, options);
    request.once("error", reject);
    request.once("response", resolve);
    if (idleMs !== undefined) {
      request.setTimeout(idleMs, () => request.destroy(new Error(`silent for ${idleMs / 1_000} s`)));
    }
    request.end(body);
  });
}

/** Reads the body of a response. Rejects if it is larger than 10 MB or breaks off. */
export async function readAnswer(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new Error("the response is larger than 10 MB");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Sends a request and reads the response. Rejects if none arrives within `timeoutMs` (default: 10 s). */
export async function callService(url: string, call: Call = {}): Promise<Answer> {
  const { method = "GET", token, key, json, timeoutMs = 10_000, own = false, onEvent, signal } = call;
  const headers = {
    accept: onEvent === undefined ? "application/json" : "text/event-stream, application/json",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(key === undefined ? {} : { "x-api-key": key }),
    ...(json === undefined ? {} : { "content-type": "application/json" }),
  };
  const body = json === undefined ? "" : JSON.stringify(json);
  const late = AbortSignal.timeout(timeoutMs);
  const ends = signal === undefined ? late : AbortSignal.any([late, signal]);
  const response = await openCall(url, { method, headers, body, own, signal: ends });
  const status = response.statusCode ?? 0;
  if (onEvent === undefined || response.headers["content-type"]?.startsWith("text/event-stream") !== true)
    return { status, body: parseJson(await readAnswer(response)) };
  const done = await readEvents(response, onEvent);
  // A stream that has begun has status 200, also for an error.
  return { status: field(done, "error") === undefined ? status : 0, body: done };
}

/** Reads a stream of events and returns the data of the event `done`. Rejects if it breaks off or has over 10 MB. */
async function readEvents(response: IncomingMessage, onEvent: OnEvent): Promise<unknown> {
  let done: unknown;
  let size = 0;
  const read = createEventReader((event, data) => {
    if (event === "done") done = data;
    else onEvent(event, data);
  });
  for await (const text of response.setEncoding("utf8") as AsyncIterable<string>) {
    size += text.length;
    if (size > MAX_BODY_BYTES) throw new Error("the response is larger than 10 MB");
    read(text);
  }
  if (done === undefined) throw new Error("the stream ended before the answer");
  return done;
}

/** Returns `body[name]` if `body` is a JSON object, else undefined. */
export function field(body: unknown, name: string): unknown {
  return isRecord(body) ? body[name] : undefined;
}

/** Reports whether an error is that of this machine's disk, not of the service. */
function isUnwritten(error: unknown): boolean {
  return ["ENOSPC", "EDQUOT", "EFBIG", "EIO"].includes(describeError(error));
}

/** Formats the line for output that cannot be written. */
export function explainUnwritten(error: unknown): string {
  return `the output cannot be written (${describeError(error)}): it is not complete`;
}

/** Formats the line for a call that got no response, or whose response cannot be written. */
export function explainNoAnswer(base: string, error: unknown): string {
  if (isUnwritten(error)) return explainUnwritten(error);
  return `no control plane answers at ${base} (${describeError(error)}): start it, or set VANTAGE_BASE_URL`;
}
