import { ok, type Failed, type Outcome } from "#shared/outcome.ts";
import {
  FOLLOWED_DELAY_S,
  type ChainEnd,
  type RedirectChain,
  type RedirectStep,
} from "#probe-agent/analysis/redirects/chain.ts";
import type { Landing, LandingRefresh } from "#probe-agent/analysis/redirects/landing.ts";
import { withoutFragment } from "#probe-agent/analysis/url/web-url.ts";
import { shortenerOf } from "#probe-agent/analysis/url/shorteners.ts";
import type { Net } from "#probe-agent/net/port.ts";
import { readWhatCan, seePage, type PageReading, type SeenPage } from "#probe-agent/sources/page.ts";

/** A chain, and the page it ended at. */
export interface FollowedChain extends RedirectChain {
  readonly last: SeenPage;
  /** What that page says of itself. */
  readonly landing: PageReading<Landing>;
}

/** How to follow. */
export interface ChainRequest {
  readonly url: string;
  readonly maxRedirects: number;
  readonly userAgent?: string;
}

/** Redirects that tools without a parameter for it follow (decisions 12). */
export const MAX_REDIRECTS = 10;
/** Enough for any page that only sends on, and for the head of any other. */
const BODY_BYTES = 1024 * 1024;
/** A page whose body never ends has shown its headers. */
const BODY_MS = 5000;
/** Left for the report of a chain whose next page does not come. */
const RESERVE_MS = 500;

/**
 * Follows a URL as a browser would that runs no scripts: redirects, then the Refresh header or meta element of the page
 * they end at, and so on. The delay of a refresh is not waited for. Failed and refused are those of the redirects by
 * HTTP; a refresh that leads nowhere ends the chain at its page.
 */
export async function followChain(net: Net, request: ChainRequest): Promise<Outcome<FollowedChain>> {
  const startedAt = net.monotonic();
  const steps: RedirectStep[] = [];
  const seen = new Set<string>();
  let elapsedUs = 0;
  const follow = async (url: string): Promise<Outcome<SeenPage>> => {
    const offsetUs = Math.max(elapsedUs, Math.round((net.monotonic() - startedAt) * 1000));
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
    const read = await readWhatCan(net, last, "landing", {});
    if (read.status !== "ok") return read;
    const landing = read.data;
    const { stopped, hops } = last.snapshot;
    const end = (why: ChainEnd | null, failure: Failed | null = null): Outcome<FollowedChain> =>
      ok({ steps, last, landing, stopped: why, failure, elapsedUs });
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
    const next = await follow(target.href);
    if (next.status !== "ok") {
      return next.status === "failed" ? end("refresh_failed", next) : end("refresh_refused");
    }
    last = next.data;
  }
}

function limitsOf(net: Net, { maxRedirects, userAgent }: ChainRequest, used: number) {
  return {
    timeoutMs: Math.max(1, net.remainingMs() - RESERVE_MS),
    maxRedirects: maxRedirects - used,
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

/** Media type of the last response in lower case, null without one. */
export function mediaType({ contentType }: SeenPage): string | null {
  const type = (contentType ?? "").split(/[;,]/, 1)[0]?.trim().toLowerCase().slice(0, 200).toWellFormed() ?? "";
  return type === "" ? null : type;
}

/** What a chain leaves open, one sentence each. */
export function chainLimitations({ last, landing, stopped, failure }: FollowedChain): string[] {
  return [
    ...(stopped === "refresh_failed" ? [`The page sends on to where nothing answers: ${failure?.message}.`] : []),
    ...(stopped === "refresh_refused" ? ["The page sends on to an address that may not be contacted."] : []),
    ...(stopped === "loop" && last.snapshot.stopped === null ? ["The pages send on to each other in a circle."] : []),
    ...landing.limitations,
    "Scripts are not run: a redirect by script is not seen.",
  ];
}
