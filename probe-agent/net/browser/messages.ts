import type { Account } from "#shared/process/system-account.ts";
import type { BrowserConditions, Capture, CaptureRequest, PageLoad } from "#probe-agent/port/browser.ts";

/** The order to the browser's process, sent once. */
export interface BrowserOrder {
  /** Path of the browser program. */
  readonly executable: string;
  /** A separate empty folder that belongs to `account`. The creator removes it. */
  readonly folder: string;
  /** Whom the browser runs as; null: the user of the agent. */
  readonly account: Account | null;
  /** Port of the gate. */
  readonly port: number;
  readonly url: string;
  readonly conditions: BrowserConditions;
  /** The picture to take; null: the load is measured. */
  readonly picture: PictureOrder | null;
  /** Product and contact of Vantage, added to the browser's own User-Agent. */
  readonly userAgent: string;
  /** Time limit of the whole order, in milliseconds. */
  readonly budgetMs: number;
}

/** What a picture shows, and when it is taken. */
type PictureOrder = Pick<CaptureRequest, "fullPage" | "waitMs">;

/** Measurements of a page load that the browser process makes. */
export type MeasuredLoad = Omit<PageLoad, "refusedConnections" | "cut">;

/** How a page ends before its result. broken: the process of the browser ended. */
export type PageEnd = { readonly kind: "crashed" } | { readonly kind: "broken"; readonly message: string };

/**
 * A message of the process. started: the browser runs; its main process (and process group) has this id. no_document:
 * the document did not load, with Chromium's error (net::ERR_...) and the last URL requested. crashed: the page crashed
 * its renderer process. unresponsive: the page did not let a picture be taken. picture_too_large: the size of the picture
 * in octets. All messages except started end the run.
 */
export type FromBrowser =
  | { readonly kind: "started"; readonly pid: number }
  | { readonly kind: "loaded"; readonly load: MeasuredLoad }
  | { readonly kind: "captured"; readonly capture: Capture }
  | { readonly kind: "picture_too_large"; readonly bytes: number }
  | { readonly kind: "unresponsive" }
  | { readonly kind: "no_document"; readonly error: string; readonly url: string }
  | PageEnd
  | { readonly kind: "out_of_memory" };
