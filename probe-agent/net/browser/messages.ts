import type { BrowserConditions, PageLoad } from "#probe-agent/port/browser.ts";

/** The order to the browser's process, sent once. */
export interface BrowserOrder {
  /** Program to run. */
  readonly executable: string;
  /** Its own empty folder; the creator removes it. */
  readonly folder: string;
  /** Port of the gate. */
  readonly port: number;
  readonly url: string;
  readonly conditions: BrowserConditions;
  /** Who asks, added to the browser's own User-Agent. */
  readonly userAgent: string;
  /** Time limit of the whole order, milliseconds. */
  readonly budgetMs: number;
}

/** What the browser measures of a load. */
export type SeenLoad = Omit<PageLoad, "refusedConnections" | "cut">;

/**
 * A message of the process. started: the browser runs; its process (and process group) has this id. no_document: the
 * document did not load, with Chromium's error (net::ERR_...) and the last URL requested. crashed:
 * the page took its renderer down. The others are ends too.
 */
export type FromBrowser =
  | { readonly kind: "started"; readonly pid: number }
  | { readonly kind: "loaded"; readonly load: SeenLoad }
  | { readonly kind: "no_document"; readonly error: string; readonly url: string }
  | { readonly kind: "crashed" }
  | { readonly kind: "out_of_memory" }
  | { readonly kind: "broken"; readonly message: string };
