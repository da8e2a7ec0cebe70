import type { Net } from "#probe-agent/net/port.ts";
import type { PageSnapshot } from "#probe-agent/net/port/http.ts";

/** A JSON document, or in a few words why there is none. */
export type JsonAnswer =
  | { readonly ok: true; readonly value: unknown; readonly finalUrl: string }
  | { readonly ok: false; readonly reason: string; readonly status: number | null; readonly body: string | null };

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

/** Fetches a JSON document from an outside service. */
export async function fetchJson(net: Net, request: JsonRequest): Promise<JsonAnswer> {
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
  return readJson(fetched.data);
}

function readJson({ final, finalUrl, body }: PageSnapshot): JsonAnswer {
  const text = new TextDecoder().decode(body.bytes);
  if (final.code !== 200) return { ok: false, reason: `status ${final.code}`, status: final.code, body: text };
  if (body.truncated || body.error !== null) return no("incomplete answer", final.code);
  try {
    return { ok: true, value: JSON.parse(text) as unknown, finalUrl };
  } catch {
    return no("not JSON", final.code);
  }
}

function no(reason: string, status: number | null = null): JsonAnswer {
  return { ok: false, reason, status, body: null };
}
