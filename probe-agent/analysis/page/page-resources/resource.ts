/** Kinds of what a page loads. */
export const RESOURCE_TYPES = ["script", "stylesheet", "image", "font", "media", "frame", "other"] as const;
/** One of the kinds. */
export type ResourceType = (typeof RESOURCE_TYPES)[number];

/** Something a page loads, as far as its HTML says. */
export interface PageResource {
  /** Resolved, without fragment. */
  readonly url: string;
  readonly type: ResourceType;
  /** The element it was found in first, or "link header". */
  readonly element: string;
  /** Of another registrable domain than the page. */
  readonly thirdParty: boolean;
  /** Nothing is painted before it is there. */
  readonly renderBlocking: boolean;
  /** loading=lazy and nothing else refers to it: fetched once it is near the viewport. */
  readonly lazy: boolean;
}

/** A reference before it is resolved. */
export interface FoundReference {
  readonly address: string;
  readonly type: ResourceType;
  readonly blocking?: boolean;
  readonly lazy?: boolean;
}

/** A hint to fetch or connect early. */
export interface ResourceHint {
  readonly url: string;
  readonly rel: "preload" | "modulepreload" | "preconnect" | "dns-prefetch";
  /** Destination of a preload; null without one. */
  readonly as: string | null;
  readonly from: "html" | "header";
}

/** Images of a page and what makes them cheap. */
export interface ImageFacts {
  readonly total: number;
  readonly lazy: number;
  /** Without width and height attributes or the same in an own style: the layout jumps when they come. */
  readonly missing_dimensions: number;
  /** Those that are offered as WebP, AVIF or JPEG XL, by type or file name; SVG is left out of both counts. */
  readonly modern_formats: number;
  /** Images whose format could be told. */
  readonly known_formats: number;
  /** With srcset or in a picture element. */
  readonly responsive: number;
}
