/** A property by its name or path ("item.name"), or several of which one is enough. */
export type Need = string | readonly string[];

/** What a search engine asks of a thing. */
export interface Shape {
  readonly required: readonly Need[];
  readonly recommended: readonly Need[];
  /** Required of every thing of a list but the last. */
  readonly requiredButLast?: readonly string[];
  /** What it asks of the things a property holds, by their type; "*": of any other. */
  readonly nested?: Readonly<Record<string, Readonly<Record<string, Shape>>>>;
  /** Properties that must hold at least so many things. */
  readonly least?: Readonly<Record<string, number>>;
}

function shape(
  required: readonly Need[],
  recommended: readonly Need[] = [],
  more: Omit<Shape, "required" | "recommended"> = {},
): Shape {
  return { required, recommended, ...more };
}

const NAMED = shape(["name"]);
const AUTHOR = shape(["name"], ["url"]);
const RATING = shape(["ratingValue", ["ratingCount", "reviewCount"]]);
const REVIEW = shape(["author", "reviewRating.ratingValue"], ["datePublished"], { nested: { author: { "*": NAMED } } });
const RATED = { aggregateRating: { "*": RATING }, review: { "*": REVIEW } };

/** developers.google.com/search/docs/appearance/structured-data/article: nothing is required. */
export const ARTICLE = shape([], ["author", "dateModified", "datePublished", "headline", "image"], {
  nested: { author: { "*": AUTHOR } },
});

/** .../structured-data/product-snippet */
export const PRODUCT_SNIPPET = shape(
  ["name", ["review", "aggregateRating", "offers"]],
  ["aggregateRating", "offers", "review"],
  {
    nested: {
      ...RATED,
      offers: {
        AggregateOffer: shape(["lowPrice", "priceCurrency"], ["highPrice", "offerCount"]),
        "*": shape(
          [["price", "priceSpecification.price"]],
          ["availability", ["priceCurrency", "priceSpecification.priceCurrency"], "priceValidUntil"],
        ),
      },
    },
  },
);

/** .../structured-data/merchant-listing */
export const MERCHANT_LISTING = shape(
  ["name", "image", "offers"],
  [
    "aggregateRating",
    "brand.name",
    "description",
    ["gtin", "gtin8", "gtin12", "gtin13", "gtin14", "isbn", "mpn"],
    "review",
    "sku",
  ],
  {
    nested: {
      ...RATED,
      offers: {
        "*": shape(
          [
            ["price", "priceSpecification.price"],
            ["priceCurrency", "priceSpecification.priceCurrency"],
          ],
          ["availability", "hasMerchantReturnPolicy", "itemCondition", "shippingDetails", "url"],
        ),
      },
    },
  },
);

/** .../structured-data/breadcrumb */
export const BREADCRUMB = shape(["itemListElement"], [], {
  least: { itemListElement: 2 },
  nested: { itemListElement: { "*": shape([["name", "item.name"], "position"], [], { requiredButLast: ["item"] }) } },
});

/** .../structured-data/faqpage */
export const FAQ = shape(["mainEntity"], [], {
  nested: { mainEntity: { "*": shape(["name", "acceptedAnswer.text"]) } },
});

/** .../structured-data/event */
export const EVENT = shape(
  ["location", "name", "startDate"],
  ["description", "endDate", "eventStatus", "image", "offers", "organizer", "performer"],
  {
    nested: {
      location: { VirtualLocation: shape(["url"]), "*": shape(["address"], ["name"]) },
      offers: { "*": shape([], ["availability", ["price", "lowPrice"], "priceCurrency", "url", "validFrom"]) },
      organizer: { "*": shape([], ["name", "url"]) },
      performer: { "*": shape([], ["name"]) },
    },
  },
);

/** .../structured-data/local-business */
export const LOCAL_BUSINESS = shape(
  ["address", "name"],
  ["aggregateRating", "geo", "openingHoursSpecification", "priceRange", "review", "telephone", "url"],
  {
    nested: {
      ...RATED,
      geo: { "*": shape([], ["latitude", "longitude"]) },
      openingHoursSpecification: { "*": shape([], ["closes", "dayOfWeek", "opens"]) },
    },
  },
);

/** .../structured-data/video */
export const VIDEO = shape(
  ["name", "thumbnailUrl", "uploadDate"],
  [["contentUrl", "embedUrl"], "description", "duration"],
);

/** .../structured-data/recipe */
export const RECIPE = shape(
  ["image", "name"],
  [
    "aggregateRating",
    "author",
    ["totalTime", "cookTime"],
    "datePublished",
    "description",
    "keywords",
    "nutrition.calories",
    "prepTime",
    "recipeCategory",
    "recipeCuisine",
    "recipeIngredient",
    "recipeInstructions",
    "recipeYield",
    "video",
  ],
  { nested: { aggregateRating: { "*": RATING }, author: { "*": shape(["name"]) }, video: { "*": VIDEO } } },
);

/** .../structured-data/organization: nothing is required. */
export const ORGANIZATION = shape(
  [],
  ["address", "alternateName", "contactPoint", "description", "email", "logo", "name", "sameAs", "telephone", "url"],
);

/** .../structured-data/job-posting; a job that is all remote names applicantLocationRequirements instead of a place. */
export const JOB_POSTING = shape(
  ["datePosted", "description", "hiringOrganization", ["jobLocation", "applicantLocationRequirements"], "title"],
  ["baseSalary", "directApply", "employmentType", "identifier", "validThrough"],
  {
    nested: {
      hiringOrganization: { "*": NAMED },
      jobLocation: { "*": shape(["address.addressCountry"], []) },
    },
  },
);
