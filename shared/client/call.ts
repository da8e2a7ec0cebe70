import { describeError } from "#shared/error-code.ts";
import { isRecord } from "#shared/is-record.ts";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";

/** An answer of the service. */
export interface Answer {
  readonly status: number;
  /** The parsed JSON body, or null where it is none. */
  readonly body: unknown;
}

/** One request to the service. */
export interface Call {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  /** The operator token, sent as a bearer. */
  readonly token?: string;
  /** An account's API key. */
  readonly key?: string;
  readonly json?: unknown;
  readonly timeoutMs?: number;
  /** true: a listener of this machine, whose certificate names some other host. */
  readonly own?: boolean;
}

const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** Sends a request and reads the answer. Rejects where there is none in time (10 s). */
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
        if (size > MAX_BODY_BYTES) response.destroy(new Error("the answer is too long"));
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

/** `body[name]` of a JSON object, undefined of anything else. */
export function field(body: unknown, name: string): unknown {
  return isRecord(body) ? body[name] : undefined;
}

/** The line for a call that got no answer. */
export function explainNoAnswer(base: string, error: unknown): string {
  return `no control plane answers at ${base} (${describeError(error)}): start it, or set VANTAGE_BASE_URL`;
}
