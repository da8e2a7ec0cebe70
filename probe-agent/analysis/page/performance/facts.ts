import type { ImageFacts } from "#probe-agent/analysis/page/page-resources/resource.ts";

/** What the score is made of; all of it handed in. Null: not told. */
export interface PerformanceFacts {
  readonly navigationTtfbMs: number;
  readonly ttfbMs: number;
  readonly redirects: number;
  /** "1.0", "1.1" or "2". */
  readonly httpVersion: string;
  /** Texts large enough to gain by compression, the page included, and those that are sent compressed. */
  readonly texts: number;
  readonly compressedTexts: number;
  /** Page and resources on the wire. */
  readonly totalBytes: number;
  /** Nothing more than the page and what is known of its resources: parts are missing. */
  readonly unknownSizes: number;
  readonly renderBlocking: number;
  /** Static resources that were measured, and those a browser may keep for a week. */
  readonly cacheable: number;
  readonly cachedLong: number;
  readonly elements: number | null;
  readonly images: ImageFacts | null;
}
