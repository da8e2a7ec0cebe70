import type { Outcome } from "#shared/contracts/outcome.ts";

/** Screen, processor and network that the browser emulates. */
export interface BrowserConditions {
  /** In CSS pixels. */
  readonly width: number;
  readonly height: number;
  readonly deviceScaleFactor: number;
  /** Whether to emulate a phone: touch screen, mobile viewport rules and a phone's User-Agent. */
  readonly mobile: boolean;
  /** Factor by which the processor is slower than this machine's; 1 for full speed. */
  readonly cpuSlowdown: number;
  /** Delay added to each request, in milliseconds. */
  readonly requestLatencyMs: number;
  readonly downloadKbps: number;
  readonly uploadKbps: number;
}

/** One page to load. */
export interface LoadRequest {
  readonly url: string;
  readonly conditions: BrowserConditions;
  /**
   * Limit for the wait for a turn, the browser's start and the load together, in milliseconds. The job's deadline
   * applies in any case.
   */
  readonly timeoutMs: number;
}

/** Kinds of resources of a page, as the browser distinguishes them. */
export type LoadedKind = "document" | "stylesheet" | "script" | "image" | "font" | "media" | "fetch" | "other";

/** Measurements of one page load. Times count from the start of the navigation and include redirects. */
export interface PageLoad {
  readonly finalUrl: string;
  /** HTTP status of the document; null if it had none. */
  readonly status: number | null;
  readonly ttfbMs: number | null;
  readonly fcpMs: number | null;
  readonly lcpMs: number | null;
  /** Cumulative layout shift: the largest session window of layout shifts without user input. */
  readonly cls: number | null;
  /** Total blocking time: the parts beyond 50 ms of each task after first contentful paint; null without that paint. */
  readonly tbtMs: number | null;
  /** End of the load event; null if the event did not happen. */
  readonly loadMs: number | null;
  /** Responses by kind, with their bytes on the wire (header and encoded body). */
  readonly loaded: Readonly<Record<LoadedKind, { readonly requests: number; readonly bytes: number }>>;
  /** Number of requests that failed or were refused. */
  readonly failedRequests: number;
  /** Whether the page became idle. If false, the time ended first and the numbers cover the load up to that moment. */
  readonly quiet: boolean;
  /** Number of connections that the page tried to open and the egress rules refused. */
  readonly refusedConnections: number;
  /** Whether the page reached the limit of what one page is allowed to load. Later resources are missing then. */
  readonly cut: boolean;
  /** Product and version, e.g. "Chromium 156.0.8078.79". */
  readonly browser: string;
}

/** One picture to take. Sizes are in CSS pixels, which are pixels of the picture. */
export interface CaptureRequest {
  readonly url: string;
  readonly width: number;
  readonly height: number;
  /** The whole page, as far as the limits of pictures allow, instead of the viewport. */
  readonly fullPage: boolean;
  /** Wait after the page has loaded, in milliseconds. */
  readonly waitMs: number;
  /** Limit for turn, start, load, wait and picture together, in milliseconds. The job's deadline applies in any case. */
  readonly timeoutMs: number;
}

/** A picture of a page. */
export interface Capture {
  /** At most 4 MiB. */
  readonly png: Uint8Array;
  /** HTTP status of the document; null if it had none. */
  readonly status: number | null;
  /** From the start of the navigation to the load event, in milliseconds; to the end of the wait for it if it did not come. */
  readonly responseMs: number;
}

/** The agent's own browser. All its connections pass the egress rules. */
export interface BrowserPort {
  /**
   * Loads a page once, with empty caches, and measures the load.
   * Refused if the egress rules forbid the URL, its address or a redirect target. Fails with the stages and reasons of
   * the HTTP engine if the document did not load, and with bad_location, no_document (the URL leads to something other
   * than a web page), page_crashed or browser_memory (the page used too much memory). Fails with source `probe` and
   * browser_busy (other jobs were first until the time ended) or browser_failed (the browser did not start or stopped
   * working).
   */
  measure(request: LoadRequest): Promise<Outcome<PageLoad>>;
  /**
   * Takes a picture of a page: animations at their end, without caret, videos and moving images at their beginning. Fails
   * like `measure`, and with page_too_large (the page loads more than the limit of one page), page_unresponsive (it
   * computes without end) and picture_too_large.
   */
  capture(request: CaptureRequest): Promise<Outcome<Capture>>;
}
