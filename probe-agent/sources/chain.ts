import type { Finding } from "#shared/contracts/findings.ts";
import { ok, type Outcome } from "#shared/contracts/outcome.ts";
import { findChainFaults } from "#probe-agent/analysis/web/redirect-chain-findings.ts";
import {
  FOLLOWED_DELAY_S,
  type ChainEnd,
  type RedirectChain,
  type RedirectStep,
} from "#probe-agent/analysis/web/redirect-chain.ts";
import { landingAnalysis, type Landing, type LandingRefresh } from "#probe-agent/analysis/web/redirect-landing.ts";
import { withoutFragment } from "#probe-agent/analysis/http/web-url.ts";
import { shortenerOf } from "#probe-agent/analysis/http/shorteners.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { DeadEnd } from "#probe-agent/port/http.ts";
import { analysePageOrHeaders, fetchPage, type PageReading, type FetchedPage } from "#probe-agent/sources/page.ts";

/** A redirect chain, and the page at its end. */
export interface FollowedChain extends RedirectChain {
  readonly last: FetchedPage;
  /** Landing data of that page. */
  readonly landing: PageReading<Landing>;
}

/** Options of following a chain. */
interface ChainRequest {
  readonly url: string;
  readonly maxRedirects: number;
  readonly userAgent?: string;
}

/** Maximum number of redirects that tools without a parameter for it follow. */
export const MAX_REDIRECTS = 10;
/** Enough for any page that only redirects, and for the head of any other page. */
const BODY_BYTES = 1024 * 1024;
/** A page whose body never ends has already sent its headers. */
const BODY_MS = 5000;
/** Maximum number of characters shown of a URL that did not answer. */
const MAX_DEAD_URL = 8192;
/** Time kept for the report of a chain whose next page does not arrive. */
const RESERVE_MS = 500;

/**
 * Follows a URL as a browser without scripts does: redirects, then the Refresh header or meta element of the page at
 * their end, and so on. Does not wait for the delay of a refresh. Fails only if the first request fails; a later
 * failure ends the chain at its last response. Refused means that a redirect by HTTP was refused.
 */
export async function followChain(net: Net, request: ChainRequest): Promise<Outcome<FollowedChain>> {
  const startedAt = net.monotonic();
  const steps: RedirectStep[] = [];
  const seen = new Set<string>();
  let elapsedUs = 0;
  const follow = async (url: string): Promise<Outcome<FetchedPage>> => {
    // The chain's time starts with its first request, so that the times of its hops add up to its total.
    const offsetUs = steps.length === 0 ? 0 : Math.max(elapsedUs, Math.round((net.monotonic() - startedAt) * 1000));
    const fetched = await fetchPage(net, url, limitsOf(net, request, steps.length));
    if (fetched.status !== "ok") return fetched;
    const { hops, elapsedUs: tookUs } = fetched.data.snapshot;
    steps.push(...hops.map((hop) => ({ hop, startedAtUs: offsetUs + hop.startedAtUs, refresh: null })));
    elapsedUs = offsetUs + tookUs;
    return fetched;
  };

  const first = await follow(request.url);
  if (first.status !== "ok") return first;
  let last = first.data;
  for (;;) {
    const { deadEnd } = last.snapshot;
    if (deadEnd !== undefined) return ok({ steps, last, landing: UNSEEN, stopped: "dead_end", deadEnd, elapsedUs });
    const read = await analysePageOrHeaders(net, last, landingAnalysis, {});
    if (read.status !== "ok") return read;
    const landing = read.data;
    const { stopped, hops } = last.snapshot;
    const end = (why: ChainEnd | null, dead: DeadEnd | null = null): Outcome<FollowedChain> =>
      ok({ steps, last, landing, stopped: why, deadEnd: dead, elapsedUs });
    if (stopped !== null) return end(stopped);
    for (const { url } of hops) seen.add(withoutFragment(new URL(url)));

    const { refresh } = landing.report;
    if (refresh === null) return end(null);
    const { bare, ...noted } = refresh;
    const target = refresh.target === null ? null : new URL(refresh.target);
    const step = steps.pop();
    if (step !== undefined) steps.push({ ...step, refresh: { ...noted, target } });
    if (target === null || bare || !isFollowed(refresh, last)) return end(null);
    if (seen.has(withoutFragment(target))) return end("loop");
    if (steps.length > request.maxRedirects) return end("too_many_redirects");
    const askedAt = net.monotonic();
    const next = await follow(target.href);
    if (next.status === "failed") {
      const tookUs = Math.round((net.monotonic() - askedAt) * 1000);
      return end("refresh_failed", { url: target.href, failure: next, elapsedUs: tookUs });
    }
    if (next.status !== "ok") return end("refresh_refused");
    last = next.data;
  }
}

function limitsOf(net: Net, { maxRedirects, userAgent }: ChainRequest, used: number) {
  return {
    timeoutMs: Math.max(1, net.remainingMs() - RESERVE_MS),
    maxRedirects: maxRedirects - used,
    keepDeadEnd: true,
    maxBodyBytes: BODY_BYTES,
    bodyTimeoutMs: BODY_MS,
    ...(userAgent === undefined ? {} : { userAgent }),
  };
}

/**
 * Reports whether a refresh is followed. A bare reload is not a redirect; the caller checks for it. A refresh within
 * noscript is meant for browsers without scripts, but it is followed on a shortener, because there it is the only
 * redirect for clients that run no scripts.
 */
function isFollowed({ kind, delaySeconds }: LandingRefresh, { snapshot }: FetchedPage): boolean {
  if (delaySeconds > FOLLOWED_DELAY_S) return false;
  return kind !== "noscript" || shortenerOf(new URL(snapshot.finalUrl).hostname) !== null;
}

/** Landing data of a response that leads to a dead end. It is not a page, and its body is not read. */
const UNSEEN: PageReading<Landing> = {
  report: { title: null, canonical: { url: null, source: null, named: [], unusable: 0 }, refresh: null },
  unread: false,
  limitations: [],
};

/** Place where a chain ends, even if nothing answers there. */
interface Destination {
  readonly url: string;
  /** Status code. Null if nothing answers there. */
  readonly code: number | null;
  /** Number of redirects on the way. */
  readonly count: number;
}

/**
 * Returns the end of a chain as a person who follows the link sees it. A redirect to a URL that does not answer counts
 * as well.
 */
export function destinationOf({ steps, last, stopped, deadEnd }: FollowedChain): Destination {
  const { finalUrl, final } = last.snapshot;
  return stopped === "dead_end" && deadEnd !== null
    ? { url: deadEnd.url, code: null, count: steps.length }
    : { url: finalUrl, code: final.code, count: steps.length - 1 };
}

/** Converts the request that was not answered to its form in results. Null if there is none. */
export function failureRow(deadEnd: DeadEnd | null) {
  if (deadEnd === null) return null;
  const { url, failure, elapsedUs } = deadEnd;
  const { stage, source, reason, message } = failure;
  return { url: url.slice(0, MAX_DEAD_URL), stage, source, reason, message, ms: Math.round(elapsedUs / 1000) };
}

/** Returns the media type of the last response in lower case, or null if it has none. */
export function mediaType({ contentType }: FetchedPage): string | null {
  const type = (contentType ?? "").split(/[;,]/, 1)[0]?.trim().toLowerCase().slice(0, 200).toWellFormed() ?? "";
  return type === "" ? null : type;
}

/**
 * Ids of findings that concern a visitor who follows the link. How well a working redirect is made is reported by the
 * tool redirects.
 */
const OF_DESTINATION: ReadonlySet<string> = new Set([
  "loop",
  "too-many-redirects",
  "dead-end",
  "refresh-failed",
  "refresh-refused",
  "missing-location",
  "several-locations",
  "bad-location",
  "other-scheme",
  "refresh-target",
  "obsolete-status",
  "downgrade",
  "ends-at-http",
  "ends-in-error",
  "bad-certificate",
]);

/** Returns findings about where a chain leads and how safe it is. */
export function destinationFindings(chain: FollowedChain): Finding[] {
  return findChainFaults(chain).filter(({ id }) => OF_DESTINATION.has(id));
}

/** Returns what a chain leaves open, one sentence each. */
export function chainLimitations({ landing }: FollowedChain): string[] {
  return [...landing.limitations, "Scripts are not executed: redirects by script are not detected."];
}
