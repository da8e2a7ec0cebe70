import type { Outcome } from "#shared/outcome.ts";

/** What a page is loaded as and over: screen, processor and network that the browser pretends to have. */
export interface BrowserConditions {
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  readonly deviceScaleFactor: number;
  /** Touch screen, mobile viewport rules and a phone's User-Agent. */
  readonly mobile: boolean;
  /** Times slower than this machine; 1: as it is. */
  readonly cpuSlowdown: number;
  /** Added to each request, milliseconds. */
  readonly requestLatencyMs: number;
  readonly downloadKbps: number;
  readonly uploadKbps: number;
}

/** One page to load. */
export interface LoadRequest {
  readonly url: string;
  readonly conditions: BrowserConditions;
  /** The wait for a turn, the browser's start and the load together, milliseconds; the job's deadline holds in any case. */
  readonly timeoutMs: number;
}

/** Kinds of what a page loads, as the browser tells them apart. */
export type LoadedKind = "document" | "stylesheet" | "script" | "image" | "font" | "media" | "fetch" | "other";

/** What a load of one page showed. Times count from the start of the navigation, redirects included. */
export interface PageLoad {
  readonly finalUrl: string;
  /** HTTP status of the document; null where it had none. */
  readonly status: number | null;
  readonly ttfbMs: number | null;
  readonly fcpMs: number | null;
  readonly lcpMs: number | null;
  /** Largest session window of layout shifts without input. */
  readonly cls: number | null;
  /** Beyond 50 ms of each task after first contentful paint; null without that paint. */
  readonly tbtMs: number | null;
  /** When the load event had ended; null where it did not come. */
  readonly loadMs: number | null;
  /** Responses and their bytes on the wire, head and encoded body, by kind. */
  readonly loaded: Readonly<Record<LoadedKind, { readonly requests: number; readonly bytes: number }>>;
  /** Requests that failed or were refused. */
  readonly failedRequests: number;
  /** The page came to rest; else the time was over and the numbers are what had been seen until then. */
  readonly quiet: boolean;
  /** Connections the page wanted and the egress rules refused. */
  readonly refusedConnections: number;
  /** The page used up what one page may load; what came after is missing. */
  readonly cut: boolean;
  /** E.g. "Chromium 156.0.8078.79". */
  readonly browser: string;
}

/** A browser of the agent's own. All it reaches passes the egress rules. */
export interface BrowserPort {
  /**
   * Loads a page once, cold, and measures it. refused: the URL, its address, or where it redirects to. failed: stages
   * and reasons of the HTTP engine where the document did not load, bad_location and no_document (it leads to what is no
   * web page), page_crashed, browser_memory (the page took too much); source probe with browser_busy (others were first
   * until the time was over) or browser_failed (it did not start or broke).
   */
  measure(request: LoadRequest): Promise<Outcome<PageLoad>>;
}
