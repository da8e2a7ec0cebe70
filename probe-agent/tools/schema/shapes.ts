import { REVIEWED } from "#probe-agent/tools/schema/feature-types.ts";
import { parseNeeds, shape, type Shape } from "#probe-agent/tools/schema/shape.ts";

/*
 * The tables of properties that Google publishes, one shape for each feature. features.ts has their addresses and
 * dates. The recommended rows leave out rows that a table limits to some items, e.g. "if applicable" or "for food
 * establishments", because their absence is not a fault. They also leave out bestRating and worstRating, which have
 * defaults.
 */

const NONE = shape("");
const anyType = (one: Shape) => ({ "*": one });

const AUTHOR = shape("", "name url|sameAs", { textIsName: true });
const NAMED_AUTHOR = shape("name", "url|sameAs", { textIsName: true });
const RATING = shape("ratingValue ratingCount|reviewCount");
const NESTED_REVIEW = shape("author reviewRating reviewRating.ratingValue", "datePublished", {
  nested: { author: anyType(AUTHOR) },
});
const RATED = { aggregateRating: anyType(RATING), review: anyType(NESTED_REVIEW) };

/** .../structured-data/article: nothing is required. */
export const ARTICLE = shape("", "author dateModified datePublished headline image", {
  nested: { author: anyType(AUTHOR) },
});

const SNIPPET_OFFER = shape(
  "price|priceSpecification.price",
  "availability priceCurrency|priceSpecification.priceCurrency priceValidUntil",
);
const AGGREGATE_OFFER = shape("lowPrice priceCurrency", "highPrice offerCount");
/** .../product-snippet */
export const PRODUCT_SNIPPET = shape("name review|aggregateRating|offers", "aggregateRating offers review", {
  nested: { ...RATED, offers: { AggregateOffer: AGGREGATE_OFFER, "*": SNIPPET_OFFER } },
});

const MERCHANT_OFFER = shape(
  "price|priceSpecification.price priceCurrency|priceSpecification.priceCurrency",
  "availability hasMerchantReturnPolicy itemCondition shippingDetails url",
  { positive: parseNeeds("price|priceSpecification.price") },
);
/** .../merchant-listing */
export const MERCHANT_LISTING = shape(
  "name image offers",
  "aggregateRating brand.name description gtin|gtin8|gtin12|gtin13|gtin14|isbn|mpn review sku",
  // An AggregateOffer is for product snippets. A listing with an Offer can have one too, without requirements.
  {
    nested: {
      ...RATED,
      brand: anyType(shape("", "", { textIsName: true })),
      offers: { AggregateOffer: NONE, "*": MERCHANT_OFFER },
    },
  },
);

/** .../breadcrumb */
export const BREADCRUMB = shape("itemListElement", "", {
  minCount: { itemListElement: 2 },
  nested: {
    itemListElement: anyType(shape("name|item.name position", "", { requiredExceptLast: parseNeeds("item") })),
  },
});

/** .../carousel, summary pages */
export const CAROUSEL_SUMMARY = shape("itemListElement", "", {
  minCount: { itemListElement: 2 },
  nested: { itemListElement: anyType(shape("position url")) },
});
/** .../carousel, all-in-one pages */
export const CAROUSEL_ALL_IN_ONE = shape("itemListElement", "", {
  minCount: { itemListElement: 2 },
  nested: { itemListElement: anyType(shape("item item.name item.url|url position")) },
});

/** .../course */
export const COURSE_LIST = shape("description name", "provider");

/** .../dataset */
export const DATASET = shape("description name", "creator distribution identifier keywords license url", {
  nested: { creator: anyType(AUTHOR), distribution: anyType(shape("contentUrl", "encodingFormat")) },
});

const COMMENT = shape("author datePublished text|image|video", "author.url");
/** .../discussion-forum; a posting on another page, as in lists of threads, has a url and needs no content. */
export const DISCUSSION_FORUM = shape("author datePublished text|image|video|sharedContent|url", "headline url", {
  nested: { author: anyType(NAMED_AUTHOR), comment: anyType(COMMENT) },
});

const FLASHCARD = shape("acceptedAnswer eduQuestionType text");
/** .../education-qa */
export const EDUCATION_QA = shape("hasPart", "about about.name educationalAlignment", {
  nested: { hasPart: anyType(FLASHCARD), educationalAlignment: anyType(shape("", "alignmentType targetName")) },
});

/** .../employer-rating */
export const EMPLOYER_RATING = shape("itemReviewed ratingValue ratingCount|reviewCount", "", {
  nested: { itemReviewed: anyType(shape("", "name sameAs", { textIsName: true })) },
});

/** .../event */
export const EVENT = shape(
  "location location.address name startDate",
  "description endDate eventStatus image offers organizer performer",
  {
    nested: {
      location: { VirtualLocation: NONE, "*": shape("", "name") },
      offers: anyType(shape("", "availability price|lowPrice priceCurrency url validFrom")),
      organizer: anyType(AUTHOR),
      performer: anyType(shape("", "name", { textIsName: true })),
    },
  },
);

/** .../image-license-metadata */
export const IMAGE_METADATA = shape(
  "contentUrl|url creator|creditText|copyrightNotice|license",
  "acquireLicensePage copyrightNotice creator creditText license",
  { nested: { creator: anyType(shape("", "name", { textIsName: true })) } },
);

/** .../job-posting; instead of a location, a remote job has its type and the places where applicants can live. */
export const JOB_POSTING = shape(
  "datePosted description hiringOrganization jobLocation|applicantLocationRequirements jobLocation|jobLocationType title",
  "baseSalary directApply employmentType identifier validThrough",
  { nested: { hiringOrganization: anyType(shape("name")), jobLocation: anyType(shape("address.addressCountry")) } },
);

/** .../local-business; Google recommends ratings only to sites that collect them about other businesses. */
export const LOCAL_BUSINESS = shape("address name", "geo openingHoursSpecification priceRange telephone url", {
  nested: {
    ...RATED,
    geo: anyType(shape("", "latitude longitude")),
    openingHoursSpecification: anyType(shape("", "closes dayOfWeek opens")),
  },
});

/** .../math-solvers */
export const MATH_SOLVER = shape(
  "learningResourceType potentialAction potentialAction.mathExpression-input potentialAction.target url usageInfo",
  "inLanguage potentialAction.eduQuestionType",
);

/** .../movie */
export const MOVIE = shape("image name", "aggregateRating dateCreated director review", {
  nested: { ...RATED, director: anyType(shape("", "name", { textIsName: true })) },
});

/** .../organization: nothing is required. */
export const ORGANIZATION = shape(
  "",
  "address alternateName contactPoint description email logo name sameAs telephone url",
);

/** .../paywalled-content */
export const PAYWALL = shape("isAccessibleForFree", "hasPart.cssSelector hasPart.isAccessibleForFree");

/** .../profile-page */
export const PROFILE_PAGE = shape("mainEntity", "dateCreated dateModified", {
  nested: {
    mainEntity: anyType(shape("name|alternateName", "description identifier image interactionStatistic sameAs")),
  },
});

const ANSWER = shape("text", "author datePublished upvoteCount url", { nested: { author: anyType(AUTHOR) } });
const QUESTION = shape("answerCount acceptedAnswer|suggestedAnswer name", "author datePublished text upvoteCount", {
  nested: { author: anyType(AUTHOR), acceptedAnswer: anyType(ANSWER), suggestedAnswer: anyType(ANSWER) },
});
/** .../qapage */
export const QA_PAGE = shape("mainEntity", "", { nested: { mainEntity: anyType(QUESTION) } });

const HOW_TO_STEP = shape("text|itemListElement");
/** .../recipe */
export const RECIPE = shape(
  "image name",
  "aggregateRating author datePublished description keywords nutrition.calories totalTime|cookTime totalTime|prepTime " +
    "recipeCategory recipeCuisine recipeIngredient recipeInstructions recipeYield video",
  {
    nested: {
      aggregateRating: anyType(RATING),
      author: anyType(AUTHOR),
      recipeInstructions: { HowToSection: shape("itemListElement name"), HowToStep: HOW_TO_STEP, "*": NONE },
    },
  },
);

/** .../review-snippet, a review outside the item that it is about */
export const REVIEW = shape(
  "author itemReviewed itemReviewed.name reviewRating reviewRating.ratingValue",
  "datePublished",
  {
    allowedTypes: { itemReviewed: REVIEWED },
    nested: { author: anyType(AUTHOR), itemReviewed: anyType(shape("", "", { textIsName: true })) },
  },
);
/** .../review-snippet, a rating outside the item that it is about */
export const AGGREGATE_RATING = shape("itemReviewed itemReviewed.name ratingValue ratingCount|reviewCount", "", {
  allowedTypes: { itemReviewed: REVIEWED },
  nested: { itemReviewed: anyType(shape("", "", { textIsName: true })) },
});
/** .../review-snippet, an item with a rating or reviews */
export const RATED_THING = shape("name aggregateRating|review", "", { nested: RATED });

/** .../software-app */
export const SOFTWARE_APP = shape("name offers.price aggregateRating|review", "applicationCategory operatingSystem", {
  nested: RATED,
});

/** .../speakable */
export const SPEAKABLE = shape("speakable.cssSelector|speakable.xPath");

/** .../vacation-rental */
export const VACATION_RENTAL = shape(
  "containsPlace containsPlace.occupancy containsPlace.occupancy.value identifier image latitude|geo.latitude " +
    "longitude|geo.longitude name",
  "additionalType address aggregateRating checkinTime checkoutTime containsPlace.additionalType containsPlace.amenityFeature review",
  { minCount: { image: 8 }, nested: RATED },
);

/** .../video */
export const VIDEO = shape("name thumbnailUrl uploadDate", "contentUrl|embedUrl description duration");

/** .../return-policy: country and category, or the address of a page with the policy */
export const RETURN_POLICY = shape("applicableCountry|merchantReturnLink returnPolicyCategory|merchantReturnLink");

/** .../return-policy, if returns are limited to a number of days */
export const FINITE_RETURN_POLICY = shape(
  "applicableCountry|merchantReturnLink merchantReturnDays returnPolicyCategory",
  "returnFees returnMethod",
);

/** Shape of features that are no longer shown: no property makes an item eligible. */
export const DISCONTINUED = NONE;
