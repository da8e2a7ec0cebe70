import { ok, type Outcome } from "#shared/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { protocol } from "#shared/tools/protocol.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { HttpRequest, PageSnapshot } from "#probe-agent/port/http.ts";

type Row = ResultOf<typeof protocol>["attempts"][number];

/** One way to ask a server, and what came of it. */
export interface Attempt {
  readonly name: Row["name"];
  readonly outcome: Outcome<PageSnapshot>;
  readonly row: Row;
}

type Way = Pick<HttpRequest, "alpn" | "httpVersion" | "h2c">;

/** What browsers offer over TLS. */
const BROWSER_ALPN = ["h2", "http/1.1"] as const;

const WAYS: Readonly<Record<Row["name"], Way>> = {
  default: { alpn: BROWSER_ALPN },
  "http/1.0": { httpVersion: "1.0", alpn: [] },
  "http/1.1": { alpn: ["http/1.1"] },
  h2: { alpn: ["h2"] },
  no_alpn: { alpn: [] },
  h2c_upgrade: { h2c: "upgrade" },
  h2c_prior_knowledge: { h2c: "prior_knowledge" },
};

/** The head is all that is wanted. */
const BODY_BYTES = 1024;
const BODY_MS = 500;
const FIRST_MS = 10_000;
const ATTEMPT_MS = 5000;

/** Asks for the URL in one way. */
export async function attempt(net: Net, url: string, name: Row["name"]): Promise<Attempt> {
  const startedAt = net.monotonic();
  const outcome = await net.http.fetch({
    url,
    method: "GET",
    follow: false,
    maxBodyBytes: BODY_BYTES,
    bodyTimeoutMs: BODY_MS,
    timeoutMs: name === "default" ? FIRST_MS : ATTEMPT_MS,
    ...WAYS[name],
  });
  const final = outcome.status === "ok" ? outcome.data.final : null;
  const row = {
    name,
    alpn_offered: url.startsWith("https:") ? [...(WAYS[name].alpn ?? [])] : [],
    alpn_selected: final?.tls?.alpn ?? null,
    http_version: final?.httpVersion ?? null,
    code: final?.code ?? null,
    reason: outcome.status === "failed" ? outcome.reason : outcome.status === "ok" ? null : "target_not_allowed",
    ms: Math.round(net.monotonic() - startedAt),
  };
  return { name, outcome, row };
}

/** What was tried first, and the answer all else goes by. */
interface FirstAnswer {
  readonly tried: readonly Attempt[];
  readonly page: PageSnapshot;
  readonly row: Row;
}

/**
 * What a browser would get, and where that fails for a reason another way may not have, what comes that way: of a server
 * that refuses every name we offer, whose HTTP/2 is broken, or that speaks nothing but HTTP/2 in the clear.
 */
export async function firstAnswer(net: Net, url: string): Promise<Outcome<FirstAnswer>> {
  const first = await attempt(net, url, "default");
  const { outcome } = first;
  if (outcome.status === "ok") return ok({ tried: [first], page: outcome.data, row: first.row });
  if (outcome.status !== "failed") return outcome;
  const isAnswer = (outcome.stage === "tls" || outcome.stage === "response") && outcome.reason !== "timeout";
  if (!isAnswer) return outcome;
  const refusesNames = outcome.reason === "no_application_protocol";
  const other = refusesNames ? "no_alpn" : url.startsWith("https:") ? "http/1.1" : "h2c_prior_knowledge";
  const second = await attempt(net, url, other);
  if (second.outcome.status !== "ok") return outcome;
  return ok({ tried: [first, second], page: second.outcome.data, row: second.row });
}

/** Statuses that refuse the version itself (RFC 9110 sections 15.5.22 and 15.6.6). */
const REFUSES_VERSION = new Set([426, 505]);
/** Statuses of a server that is asked too much, or not well: they tell nothing of the version. */
const TELLS_NOTHING = new Set([408, 429, 500, 502, 503, 504]);

/**
 * Whether the attempt shows that its version is spoken: answered as the first one was, or well. Null: it could not be
 * told. An error page in place of the page is a refusal.
 */
export function isSpoken({ outcome }: Attempt, versions: readonly string[], usualCode: number): boolean | null {
  if (outcome.status === "failed") {
    const tells = outcome.source === "target" && outcome.reason !== "timeout" && outcome.stage !== "connect";
    return tells ? false : null;
  }
  if (outcome.status !== "ok") return null;
  const { code, httpVersion } = outcome.data.final;
  if (!versions.includes(httpVersion) || REFUSES_VERSION.has(code)) return false;
  if (code < 400 || code === usualCode) return true;
  return TELLS_NOTHING.has(code) ? null : false;
}

/** Whether the server took the upgrade to HTTP/2 in the clear; null: it could not be told. */
export function isUpgraded({ outcome }: Attempt): boolean | null {
  if (outcome.status === "ok") return outcome.data.final.code === 101;
  return outcome.status === "failed" && outcome.reason === "protocol_error" ? false : null;
}
