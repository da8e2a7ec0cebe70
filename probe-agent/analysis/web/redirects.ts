import type { ResultOf } from "#shared/tools/define.ts";
import type { redirects } from "#shared/tools/redirects/contract.ts";
import { fairShares, jsonBytes, leading } from "#probe-agent/analysis/text/json-size.ts";
import { findChainFaults } from "#probe-agent/analysis/web/redirect-chain-findings.ts";
import { fitFindings } from "#probe-agent/analysis/text/findings.ts";
import { hopType, type RedirectChain, type RedirectStep } from "#probe-agent/analysis/web/redirect-chain.ts";
import { headerValues, joinedHeader } from "#probe-agent/analysis/http/header-list.ts";
import { siteOf } from "#probe-agent/analysis/http/same-site.ts";
import { isIP } from "node:net";
import { parseHsts } from "#probe-agent/analysis/web/security/hsts.ts";

type Report = Omit<
  ResultOf<typeof redirects>,
  "url" | "failure" | "source" | "observed_at" | "elapsed_ms" | "limitations"
>;
type HopRow = Report["hops"][number];

/** Maximum size of all headers of a chain together, in octets of JSON. A result has at most 256 KB (shared/protocol/wire.ts). */
const HEADERS_BYTES = 120_000;
const MAX_TEXT = 300;
/** A URL can have 8192 characters (net/http), and 31 hops have two each. Above this total each URL is truncated. */
const ALL_URLS_CHARS = 80_000;
const CUT_URL_CHARS = 1200;

/** Why a browser replaces an http URL with https without a request; null if it does not. */
type HstsReason = "preloaded" | "learned" | null;

/** Reports a chain. `cut` is true if headers, URLs or findings were left out because of their size. */
export function redirectReport(
  chain: RedirectChain,
  isPreloaded: (host: string) => boolean,
): { readonly report: Report; readonly cut: boolean } {
  const { steps, stopped, elapsedUs } = chain;
  const urls = steps.map(({ hop }) => new URL(hop.url));
  const headers = steps.map(({ hop }) => hop.headers.map(([name, value]) => ({ name, value })));
  const shares = fairShares(headers.map(jsonBytes), HEADERS_BYTES);
  const shown = headers.map((rows, index) => leading(rows, shares[index] ?? 0));
  const hsts = hstsOf(steps, isPreloaded);
  const characters = steps.reduce((sum, { hop, refresh }) => {
    return sum + hop.url.length + (hop.location ?? refresh?.target?.href ?? "").length;
  }, 0);
  const urlChars = characters > ALL_URLS_CHARS ? CUT_URL_CHARS : ALL_URLS_CHARS;
  const hops = steps.map((step, index): HopRow => {
    const next = steps[index + 1];
    const from = Math.round(step.startedAtUs / 1000);
    const to = Math.round((next?.startedAtUs ?? elapsedUs) / 1000);
    return {
      n: index + 1,
      ...describeTarget(step, urlChars),
      followed: next !== undefined,
      hsts: hsts[index] ?? null,
      ip: step.hop.ip,
      ms: to - from,
      http_version: step.hop.httpVersion,
      server: joinedHeader(step.hop.headers, "server")?.slice(0, MAX_TEXT).toWellFormed() ?? null,
      set_cookie_count: headerValues(step.hop.headers, "set-cookie").length,
      headers: shown[index] ?? [],
    };
  });
  const { findings, omitted } = fitFindings(findChainFaults(chain));
  const report = {
    hops,
    count: hops.length - 1,
    total_ms: Math.round(elapsedUs / 1000),
    loop: stopped === "loop",
    truncated: stopped === "too_many_redirects",
    final_url: steps.at(-1)?.hop.url ?? "",
    final_code: steps.at(-1)?.hop.code ?? 0,
    ...siteChanges(urls),
    findings,
  };
  const cutHeaders = shown.some((rows, index) => rows.length < (headers[index]?.length ?? 0));
  return { report, cut: cutHeaders || characters > ALL_URLS_CHARS || omitted > 0 };
}

/** Reports changes of scheme and of registrable domain in a chain of URLs. */
export function siteChanges(urls: readonly URL[]): Pick<Report, "https_upgrade" | "downgrade" | "cross_domain"> {
  return {
    https_upgrade: urls[0]?.protocol === "http:" && urls.at(-1)?.protocol === "https:",
    downgrade: urls.some((url, index) => url.protocol === "http:" && urls[index - 1]?.protocol === "https:"),
    cross_domain: urls.flatMap((url, index) => {
      const before = urls[index - 1];
      if (before === undefined) return [];
      const [from, to] = [siteOf(before.hostname), siteOf(url.hostname)];
      return from === to ? [] : [{ hop: index, from, to }];
    }),
  };
}

function describeTarget(
  step: RedirectStep,
  urlChars: number,
): Pick<HopRow, "url" | "code" | "type" | "location" | "delay_s"> {
  const { hop, refresh } = step;
  const type = hopType(step);
  const isRefresh = type === "refresh_header" || type === "meta";
  const location = isRefresh ? (refresh?.target?.href ?? null) : hop.location;
  return {
    url: hop.url.slice(0, urlChars),
    code: hop.code,
    type,
    location: location?.slice(0, urlChars) ?? null,
    delay_s: isRefresh ? (refresh?.delaySeconds ?? null) : null,
  };
}

/**
 * Returns, for each step, whether a browser skips it. Browsers know hosts from the preload list, or from the
 * Strict-Transport-Security of an earlier step over a connection without errors (RFC 6797 section 8.1).
 */
export function hstsOf(steps: readonly RedirectStep[], isPreloaded: (host: string) => boolean): HstsReason[] {
  const learned = new Map<string, { readonly includeSubDomains: boolean }>();
  return steps.map(({ hop }) => {
    const { protocol, hostname } = new URL(hop.url);
    if (protocol === "https:") {
      learn(hop, hostname, learned);
      return null;
    }
    if (isPreloaded(hostname)) return "preloaded";
    return knows(learned, hostname) ? "learned" : null;
  });
}

function learn(
  { headers, tls }: RedirectStep["hop"],
  host: string,
  learned: Map<string, { readonly includeSubDomains: boolean }>,
): void {
  const [value] = headerValues(headers, "strict-transport-security");
  if (value === undefined || tls?.authorized !== true || isIP(host.replace(/^\[|\]$/g, "")) !== 0) return;
  const { maxAge, includeSubDomains } = parseHsts(value);
  if (maxAge === null) return;
  if (maxAge === 0) learned.delete(host);
  else learned.set(host, { includeSubDomains });
}

function knows(learned: ReadonlyMap<string, { readonly includeSubDomains: boolean }>, host: string): boolean {
  for (let name = host, isOwn = true; name !== ""; name = name.includes(".") ? name.slice(name.indexOf(".") + 1) : "") {
    const policy = learned.get(name);
    if (policy !== undefined && (isOwn || policy.includeSubDomains)) return true;
    isOwn = false;
  }
  return false;
}
