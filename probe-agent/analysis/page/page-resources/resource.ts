/** Types of resources that a page loads. */
export const RESOURCE_TYPES = ["script", "stylesheet", "image", "font", "media", "frame", "other"] as const;
/** One of these types. */
export type ResourceType = (typeof RESOURCE_TYPES)[number];

/** A resource that a page loads according to its HTML. */
export interface PageResource {
  /** Absolute URL without fragment. */
  readonly url: string;
  readonly type: ResourceType;
  /** First element that references it, or "link header". */
  readonly element: string;
  /** Whether its registrable domain differs from the page's. */
  readonly thirdParty: boolean;
  /** Whether a browser paints nothing before it is loaded. */
  readonly renderBlocking: boolean;
  /** Whether all references have loading=lazy. Such a resource is fetched when it is near the viewport. */
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
  /** Destination of a preload. null if none is given. */
  readonly as: string | null;
  readonly from: "html" | "header";
}

/** Numbers of images of a page, by what affects their loading cost. */
export interface ImageFacts {
  readonly total: number;
  readonly lazy: number;
  /** Images without width and height as attributes or in their style attribute. The layout shifts when they load. */
  readonly missing_dimensions: number;
  /** Images offered as WebP, AVIF or JPEG XL, by type or file name. Like known_formats, without SVG. */
  readonly modern_formats: number;
  /** Images of known format, by type or file name. */
  readonly known_formats: number;
  /** Images with srcset or in a picture element. */
  readonly responsive: number;
}
