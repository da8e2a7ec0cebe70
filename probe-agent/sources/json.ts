import type { Net } from "#probe-agent/toolkit/net.ts";
import type { PageSnapshot } from "#probe-agent/port/http.ts";

/** A JSON document, or in a few words why there is none. */
export type JsonAnswer =
  | { readonly ok: true; readonly value: unknown; readonly finalUrl: string }
  | { readonly ok: false; readonly reason: string; readonly status: number | null; readonly body: string | null };

/** A document as it came, or in a few words why there is none. */
export type TextAnswer =
  | { readonly ok: true; readonly text: string; readonly finalUrl: string }
  | Extract<JsonAnswer, { ok: false }>;

/** How to ask. */
export interface JsonRequest {
  readonly url: string;
  /** Only for the operator's own URL: whoever it names is a stranger like any other. */
  readonly trusted: boolean;
  /** Default application/json. */
  readonly accept?: string;
  readonly headers?: readonly (readonly [string, string])[];
  /** Default 1 MiB. */
  readonly maxBytes?: number;
  readonly timeoutMs?: number;
}

const MAX_BYTES = 1024 * 1024;
const OK = 200;

/** Fetches a JSON document from a service of the operator's choice; it is parsed on the agent's own loop. */
export async function fetchJson(net: Net, request: JsonRequest & { readonly trusted: true }): Promise<JsonAnswer> {
  const answer = await fetchText(net, request);
  if (!answer.ok) return answer;
  try {
    return { ok: true, value: JSON.parse(answer.text) as unknown, finalUrl: answer.finalUrl };
  } catch {
    return no("not JSON", OK);
  }
}

/** Fetches a document and leaves it unparsed: that of a stranger is for a thread to parse. */
export async function fetchText(net: Net, request: JsonRequest): Promise<TextAnswer> {
  const fetched = await net.http.fetch({
    url: request.url,
    method: "GET",
    follow: true,
    headers: [["Accept", request.accept ?? "application/json"], ...(request.headers ?? [])],
    maxBodyBytes: request.maxBytes ?? MAX_BYTES,
    trusted: request.trusted,
    ...(request.timeoutMs === undefined ? {} : { timeoutMs: request.timeoutMs }),
  });
  if (fetched.status === "failed") return no(fetched.reason);
  if (fetched.status !== "ok") return no("target not allowed");
  return readText(fetched.data);
}

function readText({ final, finalUrl, body }: PageSnapshot): TextAnswer {
  const text = new TextDecoder().decode(body.bytes);
  if (final.code !== OK) return { ok: false, reason: `status ${final.code}`, status: final.code, body: text };
  if (body.truncated || body.error !== null) return no("incomplete answer", final.code);
  return { ok: true, text, finalUrl };
}

function no(reason: string, status: number | null = null): Extract<JsonAnswer, { ok: false }> {
  return { ok: false, reason, status, body: null };
}
