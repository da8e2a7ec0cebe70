import type { Net } from "#probe-agent/toolkit/net.ts";
import type { PageSnapshot } from "#probe-agent/port/http.ts";
import { serviceSource, type ServiceSource } from "#probe-agent/sources/service-source.ts";

/** A JSON document, or a short reason why there is none. */
export type JsonAnswer =
  | { readonly ok: true; readonly value: unknown; readonly finalUrl: string }
  | {
      readonly ok: false;
      /**
       * Who failed: the service, the resolver that was asked for its address, or the probe. Never the check's target.
       */
      readonly source: ServiceSource;
      readonly reason: string;
      readonly status: number | null;
      readonly body: string | null;
    };

/** A document as received, or a short reason why there is none. */
type TextAnswer =
  | { readonly ok: true; readonly text: string; readonly finalUrl: string }
  | Extract<JsonAnswer, { ok: false }>;

/** Options of a fetch. */
interface JsonRequest {
  readonly url: string;
  /** True only for the operator's own URL. Hosts that it redirects or refers to are vetted like any other. */
  readonly trusted: boolean;
  /** Default: application/json. */
  readonly accept?: string;
  readonly headers?: readonly (readonly [string, string])[];
  /** Default: 1 MiB. */
  readonly maxBytes?: number;
  readonly timeoutMs?: number;
}

const MAX_BYTES = 1024 * 1024;
const OK = 200;

/** Fetches a JSON document from a service of the operator's choice. It is parsed in the agent's main thread. */
export async function fetchJson(net: Net, request: JsonRequest & { readonly trusted: true }): Promise<JsonAnswer> {
  const answer = await fetchText(net, request);
  if (!answer.ok) return answer;
  try {
    return { ok: true, value: JSON.parse(answer.text) as unknown, finalUrl: answer.finalUrl };
  } catch {
    return noAnswer("not JSON", { status: OK });
  }
}

/** Fetches a document without parsing it. Documents from foreign servers are parsed in a worker thread. */
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
  if (fetched.status === "failed") return noAnswer(fetched.reason, { source: serviceSource(fetched) });
  if (fetched.status !== "ok") return noAnswer("target not allowed");
  return readText(fetched.data);
}

function readText({ final, finalUrl, body }: PageSnapshot): TextAnswer {
  const text = new TextDecoder().decode(body.bytes);
  if (final.code !== OK) return noAnswer(`status ${final.code}`, { status: final.code, body: text });
  if (body.truncated || body.error !== null) return noAnswer("incomplete answer", { status: final.code });
  return { ok: true, text, finalUrl };
}

type NoAnswer = Extract<JsonAnswer, { ok: false }>;

function noAnswer(reason: string, known: Partial<NoAnswer> = {}): NoAnswer {
  return { ok: false, source: "service", status: null, body: null, ...known, reason };
}
