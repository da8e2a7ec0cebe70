import type { ImageFacts } from "#probe-agent/analysis/page/page-resources/resource.ts";

/** Facts from which the score is computed. null means unknown. */
export interface ScoreInput {
  readonly navigationTtfbMs: number;
  readonly ttfbMs: number;
  readonly redirects: number;
  /** "1.0", "1.1" or "2". */
  readonly httpVersion: string;
  /**
   * Number of texts, including the page, that are large enough to gain by compression, and of those sent compressed.
   */
  readonly texts: number;
  readonly compressedTexts: number;
  /** Size of the page and its resources on the wire, without resources of unknown size. */
  readonly totalBytes: number;
  /** Number of resources of unknown size, which totalBytes does not include. */
  readonly unknownSizes: number;
  readonly renderBlocking: number;
  /** Number of measured static resources, and of those that a browser can keep for a week. */
  readonly cacheable: number;
  readonly cachedLong: number;
  readonly elements: number | null;
  readonly images: ImageFacts | null;
}
