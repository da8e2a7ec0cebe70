import { describeError } from "#shared/error-code.ts";
import { createEventReader, parseJson, type OnEvent } from "#shared/client/event-stream.ts";
import { isRecord } from "#shared/is-record.ts";
import { request as httpRequest } from "node:http";
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

const MAX_BODY_CHARACTERS = 10 * 1024 * 1024;

/** Sends a request and reads the response. Rejects if none arrives within `timeoutMs` (default: 10 s). */
export function callService(url: string, call: Call = {}): Promise<Answer> {
  const { method = "GET", token, key, json, timeoutMs = 10_000, own = false, onEvent, signal } = call;
  const body = json === undefined ? "" : JSON.stringify(json);
  const headers = {
    accept: onEvent === undefined ? "application/json" : "text/event-stream, application/json",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(key === undefined ? {} : { "x-api-key": key }),
    ...(json === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
  };
  const late = AbortSignal.timeout(timeoutMs);
  const options = { method, headers, agent: false, signal: signal ? AbortSignal.any([late, signal]) : late };
  return new Promise((resolve, reject) => {
    const request = url.startsWith("https:")
      ? httpsRequest(url, { ...options, rejectUnauthorized: !own })
      : httpRequest(url, options);
    request.once("error", reject);
    request.once("response", (response) => {
      const status = response.statusCode ?? 0;
      const isStream = response.headers["content-type"]?.startsWith("text/event-stream") === true;
      let done: unknown;
      const read = createEventReader((event, data) => {
        if (event === "done") done = data;
        else onEvent?.(event, data);
      });
      const texts: string[] = [];
      let size = 0;
      response.setEncoding("utf8").on("data", (text: string) => {
        size += text.length;
        if (size > MAX_BODY_CHARACTERS) response.destroy(new Error("the response is larger than 10 MB"));
        if (isStream) read(text);
        else texts.push(text);
      });
      response.once("error", reject);
      response.once("end", () => {
        if (!isStream) resolve({ status, body: parseJson(texts.join("")) });
        else if (done === undefined) reject(new Error("the stream ended before the answer"));
        // A stream that has begun has status 200, also for an error.
        else resolve({ status: field(done, "error") === undefined ? status : 0, body: done });
      });
    });
    request.end(body);
  });
}

/** Returns `body[name]` if `body` is a JSON object, else undefined. */
export function field(body: unknown, name: string): unknown {
  return isRecord(body) ? body[name] : undefined;
}

/** Formats the line for a call that got no response. */
export function explainNoAnswer(base: string, error: unknown): string {
  return `no control plane answers at ${base} (${describeError(error)}): start it, or set VANTAGE_BASE_URL`;
}
