import { isRedirectStatus } from "#probe-agent/analysis/http/status.ts";
import type { DeadEnd, Hop } from "#probe-agent/port/http.ts";

/** A refresh found in a response. */
export interface FoundRefresh {
  /** noscript: a meta element for browsers that do not run scripts. */
  readonly kind: "refresh_header" | "meta" | "noscript";
  readonly delaySeconds: number;
  /** Absolute; null if it is not an http or https URL. */
  readonly target: URL | null;
  /** Whether it reloads its own page. */
  readonly reloads: boolean;
}

/** One response of a chain. */
export interface RedirectStep {
  readonly hop: Hop;
  /** Time from the start of the chain to this response's request, in microseconds. */
  readonly startedAtUs: number;
  /** null if there is none, or if the response is an HTTP redirect. */
  readonly refresh: FoundRefresh | null;
}

/** Why a chain ended before it reached a page. */
export type ChainEnd =
  | "loop"
  | "too_many_redirects"
  | "bad_location"
  | "dead_end"
  | "refresh_failed"
  | "refresh_refused";

/** A chain of HTTP redirects and refreshes. */
export interface RedirectChain {
  /** Never empty. Each step leads to the next one. */
  readonly steps: readonly RedirectStep[];
  /** null if the chain ended at a page. */
  readonly stopped: ChainEnd | null;
  /** The failed request after the last response (dead_end, refresh_failed); else null. */
  readonly deadEnd: DeadEnd | null;
  readonly elapsedUs: number;
}

/** Maximum delay of refreshes that are followed, in seconds. Slower ones are on pages to be read first. */
export const FOLLOWED_DELAY_S = 5;

/** Reports whether a response redirects by status and Location, also if its target cannot be followed. */
export function redirectsByHttp({ code, location }: Pick<Hop, "code" | "location">): boolean {
  return isRedirectStatus(code) && location !== null;
}

/** Returns how a response redirects, in the words of results. A refresh within noscript is a meta element too. */
export function hopType({ hop, refresh }: RedirectStep): "http" | "refresh_header" | "meta" | "none" {
  if (redirectsByHttp(hop)) return "http";
  if (refresh === null) return "none";
  return refresh.kind === "refresh_header" ? "refresh_header" : "meta";
}
