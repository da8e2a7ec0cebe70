import { REVIEWED } from "#probe-agent/analysis/page/structured/feature-types.ts";
import { needs, shape, type Shape } from "#probe-agent/analysis/page/structured/shape.ts";

/*
 * The tables of properties that Google publishes, one feature a shape; features.ts has their addresses and dates. Rows
 * that a table itself limits to some things, e.g. "if applicable" or "for food establishments", are left out of what is
 * recommended: their absence says nothing. So are bestRating and worstRating, which have defaults.
 */

const NONE = shape("");
const each = (one: Shape) => ({ "*": one });

const AUTHOR = shape("", "name url|sameAs", { textNames: true });
const NAMED_AUTHOR = shape("name", "url|sameAs", { textNames: true });
const RATING = shape("ratingValue ratingCount|reviewCount");
const NESTED_REVIEW = shape("author reviewRating reviewRating.ratingValue", "datePublished", {
  nested: { author: each(AUTHOR) },
});
const RATED = { aggregateRating: each(RATING), review: each(NESTED_REVIEW) };

/** .../structured-data/article: nothing is required. */
export const ARTICLE = shape("", "author dateModified datePublished headline image", {
  nested: { author: each(AUTHOR) },
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
  { positive: needs("price|priceSpecification.price") },
);
/** .../merchant-listing */
export const MERCHANT_LISTING = shape(
  "name image offers",
  "aggregateRating brand.name description gtin|gtin8|gtin12|gtin13|gtin14|isbn|mpn review sku",
  // An AggregateOffer is for product snippets; a listing only needs an Offer beside it.
  {
    nested: {
      ...RATED,
      brand: each(shape("", "", { textNames: true })),
      offers: { AggregateOffer: NONE, "*": MERCHANT_OFFER },
    },
  },
);

/** .../breadcrumb */
export const BREADCRUMB = shape("itemListElement", "", {
  least: { itemListElement: 2 },
  nested: { itemListElement: each(shape("name|item.name position", "", { requiredButLast: needs("item") })) },
});

/** .../carousel, summary pages */
export const CAROUSEL_SUMMARY = shape("itemListElement", "", {
  least: { itemListElement: 2 },
  nested: { itemListElement: each(shape("position url")) },
});
/** .../carousel, all-in-one pages */
export const CAROUSEL_ALL_IN_ONE = shape("itemListElement", "", {
  least: { itemListElement: 2 },
  nested: { itemListElement: each(shape("item item.name item.url|url position")) },
});

/** .../course */
export const COURSE_LIST = shape("description name", "provider");

/** .../dataset */
export const DATASET = shape("description name", "creator distribution identifier keywords license url", {
  nested: { creator: each(AUTHOR), distribution: each(shape("contentUrl", "encodingFormat")) },
});

const COMMENT = shape("author datePublished text|image|video", "author.url");
/** .../discussion-forum; a posting on another page, as lists of threads have them, is named by its url and needs no content. */
export const DISCUSSION_FORUM = shape("author datePublished text|image|video|sharedContent|url", "headline url", {
  nested: { author: each(NAMED_AUTHOR), comment: each(COMMENT) },
});

const FLASHCARD = shape("acceptedAnswer eduQuestionType text");
/** .../education-qa */
export const EDUCATION_QA = shape("hasPart", "about about.name educationalAlignment", {
  nested: { hasPart: each(FLASHCARD), educationalAlignment: each(shape("", "alignmentType targetName")) },
});

/** .../employer-rating */
export const EMPLOYER_RATING = shape("itemReviewed ratingValue ratingCount|reviewCount", "", {
  nested: { itemReviewed: each(shape("", "name sameAs", { textNames: true })) },
});

/** .../event */
export const EVENT = shape(
  "location location.address name startDate",
  "description endDate eventStatus image offers organizer performer",
  {
    nested: {
      location: { VirtualLocation: NONE, "*": shape("", "name") },
      offers: each(shape("", "availability price|lowPrice priceCurrency url validFrom")),
      organizer: each(AUTHOR),
      performer: each(shape("", "name", { textNames: true })),
    },
  },
);

/** .../image-license-metadata */
export const IMAGE_METADATA = shape(
  "contentUrl|url creator|creditText|copyrightNotice|license",
  "acquireLicensePage copyrightNotice creator creditText license",
  { nested: { creator: each(shape("", "name", { textNames: true })) } },
);

/** .../job-posting; a remote job names its type and where applicants may live instead of a place. */
export const JOB_POSTING = shape(
  "datePosted description hiringOrganization jobLocation|applicantLocationRequirements jobLocation|jobLocationType title",
  "baseSalary directApply employmentType identifier validThrough",
  { nested: { hiringOrganization: each(shape("name")), jobLocation: each(shape("address.addressCountry")) } },
);

/** .../local-business; ratings are recommended only to sites that collect them about others. */
export const LOCAL_BUSINESS = shape("address name", "geo openingHoursSpecification priceRange telephone url", {
  nested: {
    ...RATED,
    geo: each(shape("", "latitude longitude")),
    openingHoursSpecification: each(shape("", "closes dayOfWeek opens")),
  },
});

/** .../math-solvers */
export const MATH_SOLVER = shape(
  "learningResourceType potentialAction potentialAction.mathExpression-input potentialAction.target url usageInfo",
  "inLanguage potentialAction.eduQuestionType",
);

/** .../movie */
export const MOVIE = shape("image name", "aggregateRating dateCreated director review", {
  nested: { ...RATED, director: each(shape("", "name", { textNames: true })) },
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
  nested: { mainEntity: each(shape("name|alternateName", "description identifier image interactionStatistic sameAs")) },
});

const ANSWER = shape("text", "author datePublished upvoteCount url", { nested: { author: each(AUTHOR) } });
const QUESTION = shape("answerCount acceptedAnswer|suggestedAnswer name", "author datePublished text upvoteCount", {
  nested: { author: each(AUTHOR), acceptedAnswer: each(ANSWER), suggestedAnswer: each(ANSWER) },
});
/** .../qapage */
export const QA_PAGE = shape("mainEntity", "", { nested: { mainEntity: each(QUESTION) } });

const HOW_TO_STEP = shape("text|itemListElement");
/** .../recipe */
export const RECIPE = shape(
  "image name",
  "aggregateRating author datePublished description keywords nutrition.calories totalTime|cookTime totalTime|prepTime " +
    "recipeCategory recipeCuisine recipeIngredient recipeInstructions recipeYield video",
  {
    nested: {
      aggregateRating: each(RATING),
      author: each(AUTHOR),
      recipeInstructions: { HowToSection: shape("itemListElement name"), HowToStep: HOW_TO_STEP, "*": NONE },
    },
  },
);

/** .../review-snippet, a review that is no part of what it is about */
export const REVIEW = shape(
  "author itemReviewed itemReviewed.name reviewRating reviewRating.ratingValue",
  "datePublished",
  {
    typed: { itemReviewed: REVIEWED },
    nested: { author: each(AUTHOR), itemReviewed: each(shape("", "", { textNames: true })) },
  },
);
/** .../review-snippet, a rating that is no part of what it is about */
export const AGGREGATE_RATING = shape("itemReviewed itemReviewed.name ratingValue ratingCount|reviewCount", "", {
  typed: { itemReviewed: REVIEWED },
  nested: { itemReviewed: each(shape("", "", { textNames: true })) },
});
/** .../review-snippet, a thing with a rating or reviews */
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
  { least: { image: 8 }, nested: RATED },
);

/** .../video */
export const VIDEO = shape("name thumbnailUrl uploadDate", "contentUrl|embedUrl description duration");

/** .../return-policy: country and kind, or the address of a page that tells them */
export const RETURN_POLICY = shape("applicableCountry|merchantReturnLink returnPolicyCategory|merchantReturnLink");

/** .../return-policy, where returns end after some days */
export const FINITE_RETURN_POLICY = shape(
  "applicableCountry|merchantReturnLink merchantReturnDays returnPolicyCategory",
  "returnFees returnMethod",
);

/** For features that are no longer shown: nothing helps. */
export const DISCONTINUED = NONE;
