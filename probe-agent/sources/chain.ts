import { ok, type Failed, type Outcome } from "#shared/outcome.ts";
import { documentBase } from "#probe-agent/analysis/html/address.ts";
import { walkElements } from "#probe-agent/analysis/html/document.ts";
import { attribute, metaPragmas } from "#probe-agent/analysis/html/page.ts";
import type { Page } from "#probe-agent/analysis/html.ts";
import { parseRefresh, type Refresh } from "#probe-agent/analysis/refresh.ts";
import {
  FOLLOWED_DELAY_S,
  type ChainEnd,
  type FoundRefresh,
  type RedirectChain,
  type RedirectStep,
} from "#probe-agent/analysis/redirects/chain.ts";
import { headerValues } from "#probe-agent/analysis/security/snapshot.ts";
import { webUrl, withoutFragment } from "#probe-agent/analysis/url/web-url.ts";
import { shortenerOf } from "#probe-agent/analysis/url/shorteners.ts";
import type { Net } from "#probe-agent/net/port.ts";
import { seePage, type SeenPage } from "#probe-agent/sources/page.ts";

/** A chain, and the page it ended at. */
export interface FollowedChain extends RedirectChain {
  readonly last: SeenPage;
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
    const { stopped, hops } = last.snapshot;
    const end = (why: ChainEnd | null, failure: Failed | null = null): Outcome<FollowedChain> =>
      ok({ steps, last, stopped: why, failure, elapsedUs });
    if (stopped !== null) return end(stopped);
    for (const { url } of hops) seen.add(withoutFragment(new URL(url)));

    const refresh = findRefresh(last);
    if (refresh === null) return end(null);
    const { bare: _bare, ...noted } = refresh;
    const step = steps.pop();
    if (step !== undefined) steps.push({ ...step, refresh: noted });
    if (!leadsOn(refresh, last)) return end(null);
    if (seen.has(withoutFragment(refresh.target))) return end("loop");
    if (steps.length > request.maxRedirects) return end("too_many_redirects");
    const next = await follow(refresh.target.href);
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
function leadsOn(found: Found, { snapshot }: SeenPage): found is Found & { readonly target: URL } {
  if (found.target === null || found.bare || found.delaySeconds > FOLLOWED_DELAY_S) return false;
  return found.kind !== "noscript" || shortenerOf(new URL(snapshot.finalUrl).hostname) !== null;
}

interface Found extends FoundRefresh {
  /** It names no address. */
  readonly bare: boolean;
}

/** The refresh that counts: the header's before the page's first (WHATWG HTML), then one within noscript. */
function findRefresh({ snapshot, page }: SeenPage): Found | null {
  const { finalUrl: pageUrl, final } = snapshot;
  const base = documentBase(page?.facts.baseHref ?? null, pageUrl);
  const found = (kind: Found["kind"], values: readonly string[], from: string): Found | null => {
    const refresh = values.map(parseRefresh).find((one): one is Refresh => one !== null);
    if (refresh === undefined) return null;
    const target = webUrl(refresh.url ?? pageUrl, from);
    const reloads = target !== null && withoutFragment(target) === withoutFragment(new URL(pageUrl));
    return { kind, delaySeconds: refresh.delaySeconds, target, reloads, bare: refresh.url === null };
  };
  return (
    found("refresh_header", headerValues(final.headers, "refresh"), pageUrl) ??
    (page === null ? null : found("meta", metaPragmas(page.facts, "refresh"), base)) ??
    (page === null ? null : found("noscript", noscriptRefreshes(page), base))
  );
}

/** Elements within noscript looked at. */
const MAX_NOSCRIPT = 50;

function noscriptRefreshes({ document }: Page): string[] {
  const contents: string[] = [];
  let looked = 0;
  for (const noscript of walkElements(document.root)) {
    if (noscript.name !== "noscript") continue;
    for (const element of walkElements(noscript)) {
      looked += 1;
      if (looked > MAX_NOSCRIPT) return contents;
      const isRefresh = element.name === "meta" && attribute(element, "http-equiv")?.toLowerCase() === "refresh";
      if (isRefresh) contents.push(attribute(element, "content") ?? "");
    }
  }
  return contents;
}

/** Media type of the last response in lower case, null without one. */
export function mediaType({ contentType }: SeenPage): string | null {
  const type = (contentType ?? "").split(/[;,]/, 1)[0]?.trim().toLowerCase().slice(0, 200).toWellFormed() ?? "";
  return type === "" ? null : type;
}

/** What a chain leaves open, one sentence each. */
export function chainLimitations({ last, stopped, failure }: FollowedChain): string[] {
  return [
    ...(stopped === "refresh_failed" ? [`The page sends on to where nothing answers: ${failure?.message}.`] : []),
    ...(stopped === "refresh_refused" ? ["The page sends on to an address that may not be contacted."] : []),
    ...(stopped === "loop" && last.snapshot.stopped === null ? ["The pages send on to each other in a circle."] : []),
    ...last.limitations,
    "Scripts are not run: a redirect by script is not seen.",
  ];
}
