import { ok, type Outcome } from "#shared/contracts/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { protocol } from "#shared/tools/protocol.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { HttpRequest, PageSnapshot } from "#probe-agent/port/http.ts";

type Row = ResultOf<typeof protocol>["attempts"][number];

/** One attempt to request the URL, and its outcome. */
export interface Attempt {
  readonly name: Row["name"];
  readonly outcome: Outcome<PageSnapshot>;
  readonly row: Row;
}

type Way = Pick<HttpRequest, "alpn" | "httpVersion" | "h2c">;

/** ALPN names that browsers offer. */
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

/** Limit of the body in octets. Only the head of the answer is used. */
const BODY_BYTES = 1024;
/** Time limit of the body in milliseconds. */
const BODY_MS = 500;
/** Time limit of the first attempt in milliseconds. */
const FIRST_MS = 10_000;
/** Time limit of every other attempt in milliseconds. */
const ATTEMPT_MS = 5000;

/** Requests the URL in one way. */
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

/** The first successful answer, with the attempts up to it. */
interface FirstAnswer {
  readonly tried: readonly Attempt[];
  readonly page: PageSnapshot;
  readonly row: Row;
}

/**
 * Requests the URL as a browser does. If that fails for a reason that another attempt can avoid, makes one more
 * attempt: for a server that refuses all ALPN names offered, whose HTTP/2 is broken, or that supports only unencrypted
 * HTTP/2.
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

/** Status codes that refuse the HTTP version (RFC 9110 sections 15.5.22 and 15.6.6). */
const REFUSES_VERSION = new Set([426, 505]);
/** Status codes of an overloaded or failing server. They say nothing about the version. */
const UNRELATED_ERRORS = new Set([408, 429, 500, 502, 503, 504]);

/**
 * Reports whether the server supports the version of an attempt: it answered below 400 or with the status of the first
 * answer. Another error status is a refusal. Null if unknown.
 */
export function isSpoken({ outcome }: Attempt, versions: readonly string[], usualCode: number): boolean | null {
  if (outcome.status === "failed") {
    const isRefusal = outcome.source === "target" && outcome.reason !== "timeout" && outcome.stage !== "connect";
    return isRefusal ? false : null;
  }
  if (outcome.status !== "ok") return null;
  const { code, httpVersion } = outcome.data.final;
  if (!versions.includes(httpVersion) || REFUSES_VERSION.has(code)) return false;
  if (code < 400 || code === usualCode) return true;
  return UNRELATED_ERRORS.has(code) ? null : false;
}

/** Reports whether the server accepted the upgrade to unencrypted HTTP/2; null if unknown. */
export function isUpgraded({ outcome }: Attempt): boolean | null {
  if (outcome.status === "ok") return outcome.data.final.code === 101;
  return outcome.status === "failed" && outcome.reason === "protocol_error" ? false : null;
}
