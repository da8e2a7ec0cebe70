import {
  ARTICLES,
  BUSINESSES,
  EVENTS,
  ORGANIZATIONS,
  PRODUCTS,
} from "#probe-agent/analysis/structured/feature-types.ts";
import {
  ARTICLE,
  BREADCRUMB,
  EVENT,
  FAQ,
  JOB_POSTING,
  LOCAL_BUSINESS,
  MERCHANT_LISTING,
  ORGANIZATION,
  PRODUCT_SNIPPET,
  RECIPE,
  VIDEO,
  type Shape,
} from "#probe-agent/analysis/structured/shapes.ts";

/** A kind of rich result. */
export interface Feature {
  readonly name: string;
  readonly types: ReadonlySet<string>;
  readonly shape: Shape;
  /** Only for things whose property holds one of a type, e.g. a shop's listing needs an Offer. */
  readonly holding?: { readonly property: string; readonly type: string };
  readonly deprecated: boolean;
  readonly note: string | null;
  /** Where the requirements are documented. */
  readonly reference: string;
}

const DOCS = "https://developers.google.com/search/docs/appearance/structured-data/";

function feature(
  name: string,
  page: string,
  types: readonly string[],
  shape: Shape,
  more: Partial<Feature> = {},
): Feature {
  return { name, types: new Set(types), shape, deprecated: false, note: null, reference: `${DOCS}${page}`, ...more };
}

/** The features looked at, each by Google's documentation of its properties. */
export const FEATURES: readonly Feature[] = [
  feature("Article", "article", ARTICLES, ARTICLE),
  feature("Product", "product-snippet", PRODUCTS, PRODUCT_SNIPPET),
  feature("Merchant listing", "merchant-listing", PRODUCTS, MERCHANT_LISTING, {
    holding: { property: "offers", type: "Offer" },
  }),
  feature("Breadcrumb", "breadcrumb", ["BreadcrumbList"], BREADCRUMB),
  feature("FAQ", "faqpage", ["FAQPage"], FAQ, {
    deprecated: true,
    note: "Since August 2023 shown for well-known government and health sites only, if at all.",
  }),
  feature("Event", "event", EVENTS, EVENT),
  feature("LocalBusiness", "local-business", BUSINESSES, LOCAL_BUSINESS),
  feature("Recipe", "recipe", ["Recipe"], RECIPE),
  feature("Video", "video", ["VideoObject"], VIDEO),
  feature("Organization", "organization", ORGANIZATIONS, ORGANIZATION),
  feature("JobPosting", "job-posting", ["JobPosting"], JOB_POSTING),
];
