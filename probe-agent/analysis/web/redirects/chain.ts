import type { DeadEnd, Hop } from "#probe-agent/port/http.ts";

/** A refresh found in a response. */
export interface FoundRefresh {
  /** noscript: a meta element for browsers that run no scripts. */
  readonly kind: "refresh_header" | "meta" | "noscript";
  readonly delaySeconds: number;
  /** Absolute; null where it is no URL of the web. */
  readonly target: URL | null;
  /** It loads the page it stands in again. */
  readonly reloads: boolean;
}

/** One response of a chain. */
export interface RedirectStep {
  readonly hop: Hop;
  /** Microseconds from the chain's start to this response's request. */
  readonly startedAtUs: number;
  /** Null where there is none, or the response redirects by HTTP. */
  readonly refresh: FoundRefresh | null;
}

/** Why a chain ended before it came to a page. */
export type ChainEnd =
  | "loop"
  | "too_many_redirects"
  | "bad_location"
  | "dead_end"
  | "refresh_failed"
  | "refresh_refused";

/** A chain of redirects by HTTP and by refreshes. */
export interface RedirectChain {
  /** Never empty; each one leads to the next. */
  readonly steps: readonly RedirectStep[];
  readonly stopped: ChainEnd | null;
  /** Where the last response leads and nobody answers (dead_end, refresh_failed). */
  readonly deadEnd: DeadEnd | null;
  readonly elapsedUs: number;
}

/** Refreshes that wait longer are pages to be read first: they are reported and not followed. Seconds. */
export const FOLLOWED_DELAY_S = 5;

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Whether the status asks clients to go to Location (Fetch standard, redirect status). */
export function isRedirectStatus(code: number): boolean {
  return REDIRECTS.has(code);
}

/** Whether the response sends on by status and Location, be it to where nobody can follow. */
export function redirectsByHttp({ code, location }: Pick<Hop, "code" | "location">): boolean {
  return isRedirectStatus(code) && location !== null;
}

/** How a response sends on, by the word results have for it; a refresh within noscript is a meta element too. */
export function hopType({ hop, refresh }: RedirectStep): "http" | "refresh_header" | "meta" | "none" {
  if (redirectsByHttp(hop)) return "http";
  if (refresh === null) return "none";
  return refresh.kind === "refresh_header" ? "refresh_header" : "meta";
}
