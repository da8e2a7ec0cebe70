import type { Finding } from "#shared/findings.ts";
import { ok, type Outcome } from "#shared/outcome.ts";
import { findChainFaults } from "#probe-agent/analysis/web/redirects/chain-findings.ts";
import {
  FOLLOWED_DELAY_S,
  type ChainEnd,
  type RedirectChain,
  type RedirectStep,
} from "#probe-agent/analysis/web/redirects/chain.ts";
import type { Landing, LandingRefresh } from "#probe-agent/analysis/web/redirects/landing.ts";
import { withoutFragment } from "#probe-agent/analysis/http/url/web-url.ts";
import { shortenerOf } from "#probe-agent/analysis/http/url/shorteners.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { DeadEnd } from "#probe-agent/port/http.ts";
import { readWhatCan, seePage, type PageReading, type SeenPage } from "#probe-agent/sources/page.ts";

/** A chain, and the page it ended at. */
export interface FollowedChain extends RedirectChain {
  readonly last: SeenPage;
  /** What that page says of itself. */
  readonly landing: PageReading<Landing>;
}

/** How to follow. */
interface ChainRequest {
  readonly url: string;
  readonly maxRedirects: number;
  readonly userAgent?: string;
}

/** Redirects that tools without a parameter for it follow. */
export const MAX_REDIRECTS = 10;
/** Enough for any page that only sends on, and for the head of any other. */
const BODY_BYTES = 1024 * 1024;
/** A page whose body never ends has shown its headers. */
const BODY_MS = 5000;
/** Characters of a URL that nobody answers at. */
const MAX_DEAD_URL = 8192;
/** Left for the report of a chain whose next page does not come. */
const RESERVE_MS = 500;

/**
 * Follows a URL as a browser would that runs no scripts: redirects, then the Refresh header or meta element of the page
 * they end at, and so on. The delay of a refresh is not waited for. Failed is that of the first request alone: whatever
 * leads nowhere later ends the chain at its last response. Refused is that of the redirects by HTTP.
 */
export async function followChain(net: Net, request: ChainRequest): Promise<Outcome<FollowedChain>> {
  const startedAt = net.monotonic();
  const steps: RedirectStep[] = [];
  const seen = new Set<string>();
  let elapsedUs = 0;
  const follow = async (url: string): Promise<Outcome<SeenPage>> => {
    // The chain's time starts with its first request: the times of its hops add up to its own.
    const offsetUs = steps.length === 0 ? 0 : Math.max(elapsedUs, Math.round((net.monotonic() - startedAt) * 1000));
    const fetched = await seePage(net, url, limitsOf(net, request, steps.length));
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
    const read = await readWhatCan(net, last, "landing", {});
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
    if (target === null || bare || !leadsOn(refresh, last)) return end(null);
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
 * A bare reload is no redirect. One within noscript is for others than browsers with scripts, but it is all that a
 * shortener has for whoever runs none.
 */
function leadsOn({ kind, delaySeconds }: LandingRefresh, { snapshot }: SeenPage): boolean {
  if (delaySeconds > FOLLOWED_DELAY_S) return false;
  return kind !== "noscript" || shortenerOf(new URL(snapshot.finalUrl).hostname) !== null;
}

/** A response that leads to a dead end is no page, and its body is not read. */
const UNSEEN: PageReading<Landing> = {
  report: { title: null, canonical: { url: null, source: null, named: [], unusable: 0 }, refresh: null },
  unread: false,
  limitations: [],
};

/** Where a chain leads in the end, be it to where nobody answers, and how. */
interface Destination {
  readonly url: string;
  /** Null where nobody answers. */
  readonly code: number | null;
  /** Redirects on the way. */
  readonly count: number;
}

/** The end of a chain as those see it who follow a link: a redirect into the void has led there all the same. */
export function destinationOf({ steps, last, stopped, deadEnd }: FollowedChain): Destination {
  const { finalUrl, final } = last.snapshot;
  return stopped === "dead_end" && deadEnd !== null
    ? { url: deadEnd.url, code: null, count: steps.length }
    : { url: finalUrl, code: final.code, count: steps.length - 1 };
}

/** The request nobody answered, as results have it. */
export function failureRow(deadEnd: DeadEnd | null) {
  if (deadEnd === null) return null;
  const { url, failure, elapsedUs } = deadEnd;
  const { stage, source, reason, message } = failure;
  return { url: url.slice(0, MAX_DEAD_URL), stage, source, reason, message, ms: Math.round(elapsedUs / 1000) };
}

/** Media type of the last response in lower case, null without one. */
export function mediaType({ contentType }: SeenPage): string | null {
  const type = (contentType ?? "").split(/[;,]/, 1)[0]?.trim().toLowerCase().slice(0, 200).toWellFormed() ?? "";
  return type === "" ? null : type;
}

/** What a visitor who follows the link meets; the manner of a redirect that works is the tool redirects' matter. */
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

/** Findings about where a chain leads and how safely. */
export function destinationFindings(chain: FollowedChain): Finding[] {
  return findChainFaults(chain).filter(({ id }) => OF_DESTINATION.has(id));
}

/** What a chain leaves open, one sentence each. */
export function chainLimitations({ landing }: FollowedChain): string[] {
  return [...landing.limitations, "Scripts are not run: a redirect by script is not seen."];
}
