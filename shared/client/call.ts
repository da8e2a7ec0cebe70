import { describeError } from "#shared/error-code.ts";
import { isRecord } from "#shared/is-record.ts";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";

/** An HTTP response of the service. */
interface Answer {
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
}

const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** Sends a request and reads the response. Rejects if none arrives within `timeoutMs` (default: 10 s). */
export function callService(url: string, call: Call = {}): Promise<Answer> {
  const { method = "GET", token, key, json, timeoutMs = 10_000, own = false } = call;
  const body = json === undefined ? "" : JSON.stringify(json);
  const headers = {
    accept: "application/json",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(key === undefined ? {} : { "x-api-key": key }),
    ...(json === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
  };
  const options = { method, headers, agent: false, signal: AbortSignal.timeout(timeoutMs) };
  return new Promise((resolve, reject) => {
    const request = url.startsWith("https:")
      ? httpsRequest(url, { ...options, rejectUnauthorized: !own })
      : httpRequest(url, options);
    request.once("error", reject);
    request.once("response", (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_BODY_BYTES) response.destroy(new Error("the response is larger than 10 MB"));
        chunks.push(chunk);
      });
      response.once("error", reject);
      response.once("end", () => resolve({ status: response.statusCode ?? 0, body: parse(Buffer.concat(chunks)) }));
    });
    request.end(body);
  });
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return null;
  }
}

/** Returns `body[name]` if `body` is a JSON object, else undefined. */
export function field(body: unknown, name: string): unknown {
  return isRecord(body) ? body[name] : undefined;
}

/** Formats the line for a call that got no response. */
export function explainNoAnswer(base: string, error: unknown): string {
  return `no control plane answers at ${base} (${describeError(error)}): start it, or set VANTAGE_BASE_URL`;
}
