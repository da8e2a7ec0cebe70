import * as types from "#probe-agent/tools/schema/feature-types.ts";
import * as shapes from "#probe-agent/tools/schema/shapes.ts";
import type { Shape } from "#probe-agent/tools/schema/shape.ts";
import { valuesOf, type Entities, type Entity } from "#probe-agent/analysis/page/structured/entity.ts";

/** Reports whether a feature applies to an entity of one of its types. `byId` resolves references. */
type Condition = (entity: Entity, byId: Entities["byId"]) => boolean;

/** Maximum number of values of one property that are checked. */
const MAX = 100;

/** Returns a condition that is true if the entity has one of the properties. */
function hasAnyOf(...properties: readonly string[]): Condition {
  return (entity) => properties.some((name) => entity.properties.has(name));
}

/** Returns a condition that is true if the property holds an entity of the type. */
function hasEntityOfType(property: string, type: string): Condition {
  return (entity, byId) => entitiesIn(entity, property, byId).some((one) => one.types.includes(type));
}

/**
 * Returns a condition that is true if the property holds the text, which is in lower case. The comparison ignores case
 * and the schema.org address before a value.
 */
function hasText(property: string, text: string): Condition {
  return (entity, byId) =>
    valuesOf(entity, property, byId).some(
      (value) =>
        typeof value === "string" &&
        value
          .trim()
          .toLowerCase()
          .replace(/^https?:\/\/schema\.org\//, "") === text,
    );
}

/** Returns the negated condition. */
function not(condition: Condition): Condition {
  return (entity, byId) => !condition(entity, byId);
}

/** Types that Google shows in a site's carousel (its page "carousel", all-in-one pages). */
const CAROUSEL_TYPES = new Set(["Course", "Movie", "Recipe", "Restaurant"]);

/** True for a list whose elements contain the entities themselves, of a type that carousels show. */
const listsEntities: Condition = (entity, byId) =>
  entitiesIn(entity, "itemListElement", byId).some((element) =>
    entitiesIn(element, "item", byId).some((one) => one.types.some((type) => CAROUSEL_TYPES.has(type))),
  );

/** True for a list of links to other pages: all its elements have a url and no item and no name. */
const listsPages: Condition = (entity, byId) => {
  const elements = entitiesIn(entity, "itemListElement", byId);
  const bare = ({ properties }: Entity): boolean => properties.has("url") && !properties.has("item");
  return elements.length > 0 && elements.every((one) => bare(one) && !one.properties.has("name"));
};

function entitiesIn(entity: Entity, property: string, byId: Entities["byId"]): Entity[] {
  return valuesOf(entity, property, byId)
    .slice(0, MAX)
    .filter((value) => typeof value === "object");
}

/** A kind of rich result, with its requirements. */
export interface Feature {
  readonly name: string;
  readonly types: ReadonlySet<string>;
  readonly shape: Shape;
  /** Restricts the feature to some entities, e.g. a merchant listing needs an Offer; null if it applies to all. */
  readonly condition: Condition | null;
  /** Whether the search engine no longer shows the feature. */
  readonly deprecated: boolean;
  readonly note: string | null;
  /** URL of the documentation of the requirements. */
  readonly reference: string;
  /** Date on which that documentation was read, or on which the feature ended, as YYYY-MM-DD. */
  readonly asOf: string;
}

const DOCS = "https://developers.google.com/search/docs/appearance/structured-data/";
/** Date on which Google's tables were read, unless a row gives another date. */
const READ = "2026-09-01";
/** Date on which some of the tables were read again. */
const READ_AGAIN = "2026-10-10";

const isFiniteReturn = hasText("returnPolicyCategory", "merchantreturnfinitereturnwindow");

type Row = readonly [name: string, page: string, types: readonly string[], shape: Shape, more?: Partial<Feature>];

const ROWS: readonly Row[] = [
  ["Article", "article", types.ARTICLES, shapes.ARTICLE],
  ["Product", "product-snippet", types.PRODUCTS, shapes.PRODUCT_SNIPPET],
  [
    "Merchant listing",
    "merchant-listing",
    types.PRODUCTS,
    shapes.MERCHANT_LISTING,
    { condition: hasEntityOfType("offers", "Offer") },
  ],
  ["Breadcrumb", "breadcrumb", ["BreadcrumbList"], shapes.BREADCRUMB, { asOf: READ_AGAIN }],
  [
    "Carousel",
    "carousel",
    ["ItemList"],
    shapes.CAROUSEL_SUMMARY,
    { condition: listsPages, note: "Only for lists of recipes, courses, movies or restaurants." },
  ],
  ["Carousel", "carousel", ["ItemList"], shapes.CAROUSEL_ALL_IN_ONE, { condition: listsEntities }],
  ["Course list", "course", ["Course"], shapes.COURSE_LIST, { note: "Requires a list of at least three courses." }],
  ["Dataset", "dataset", ["Dataset"], shapes.DATASET, { note: "Shown in Google's Dataset Search." }],
  ["Discussion forum", "discussion-forum", ["DiscussionForumPosting", "SocialMediaPosting"], shapes.DISCUSSION_FORUM],
  [
    "Education Q&A",
    "education-qa",
    ["Quiz"],
    shapes.EDUCATION_QA,
    { condition: not(hasText("learningResourceType", "practice problem")) },
  ],
  ["Employer aggregate rating", "employer-rating", ["EmployerAggregateRating"], shapes.EMPLOYER_RATING],
  ["Event", "event", types.EVENTS, shapes.EVENT, { note: "Events without a physical location are not shown." }],
  [
    "Image metadata",
    "image-license-metadata",
    ["ImageObject"],
    shapes.IMAGE_METADATA,
    {
      asOf: READ_AGAIN,
      condition: hasAnyOf("creator", "creditText", "copyrightNotice", "license", "acquireLicensePage"),
    },
  ],
  ["JobPosting", "job-posting", ["JobPosting"], shapes.JOB_POSTING],
  ["LocalBusiness", "local-business", types.BUSINESSES, shapes.LOCAL_BUSINESS],
  ["Math solver", "math-solvers", ["MathSolver"], shapes.MATH_SOLVER],
  ["Movie", "movie", ["Movie"], shapes.MOVIE, { note: "Shown in a carousel, which requires a list of movies." }],
  ["Organization", "organization", types.ORGANIZATIONS, shapes.ORGANIZATION, { asOf: READ_AGAIN }],
  [
    "Paywalled content",
    "paywalled-content",
    types.PAYWALLED,
    shapes.PAYWALL,
    { condition: hasText("isAccessibleForFree", "false") },
  ],
  ["Profile page", "profile-page", ["ProfilePage"], shapes.PROFILE_PAGE, { asOf: READ_AGAIN }],
  ["Q&A", "qapage", ["QAPage"], shapes.QA_PAGE],
  ["Recipe", "recipe", ["Recipe"], shapes.RECIPE],
  [
    "Return policy",
    "return-policy",
    ["MerchantReturnPolicy"],
    shapes.RETURN_POLICY,
    { condition: not(isFiniteReturn) },
  ],
  [
    "Return policy",
    "return-policy",
    ["MerchantReturnPolicy"],
    shapes.FINITE_RETURN_POLICY,
    { condition: isFiniteReturn },
  ],
  ["Review snippet", "review-snippet", ["Review", "CriticReview", "UserReview"], shapes.REVIEW],
  ["Review snippet", "review-snippet", ["AggregateRating"], shapes.AGGREGATE_RATING],
  [
    "Review snippet",
    "review-snippet",
    types.RATED_ONLY,
    shapes.RATED_THING,
    { condition: hasAnyOf("aggregateRating", "review") },
  ],
  ["Software app", "software-app", types.APPS, shapes.SOFTWARE_APP],
  [
    "Speakable",
    "speakable",
    [...types.ARTICLES, "WebPage"],
    shapes.SPEAKABLE,
    { condition: hasAnyOf("speakable"), note: "In beta, for news in English in the United States." },
  ],
  ["Vacation rental", "vacation-rental", ["VacationRental"], shapes.VACATION_RENTAL],
  ["Video", "video", ["VideoObject"], shapes.VIDEO],
];

const UPDATES = "https://developers.google.com/search/updates";
const SIMPLER = "https://developers.google.com/search/blog/2025/06/simplifying-search-results";

type Ended = readonly [
  name: string,
  reference: string,
  asOf: string,
  types: readonly string[],
  condition?: Condition | null,
];

/** Features that Google no longer shows, with the date on which each ended or its documentation was removed. */
const ENDED: readonly Ended[] = [
  ["Book actions", SIMPLER, "2025-06-12", ["Book"], hasAnyOf("potentialAction")],
  ["Course info", UPDATES, "2025-09-09", ["Course"], hasAnyOf("hasCourseInstance")],
  ["Estimated salary", UPDATES, "2025-09-09", ["Occupation", "OccupationAggregationByEmployer"]],
  ["Fact check", SIMPLER, "2025-06-12", ["ClaimReview"]],
  ["FAQ", UPDATES, "2026-05-07", ["FAQPage"]],
  ["How-to", UPDATES, "2023-09-14", ["HowTo"]],
  ["Learning video", UPDATES, "2025-09-09", ["VideoObject"], ({ types: all }) => all.includes("LearningResource")],
  ["Practice problem", UPDATES, "2026-01-06", ["Quiz"], hasText("learningResourceType", "practice problem")],
  ["Sitelinks search box", UPDATES, "2024-11-29", ["WebSite"], hasEntityOfType("potentialAction", "SearchAction")],
  ["Special announcement", UPDATES, "2025-09-09", ["SpecialAnnouncement"]],
  ["Vehicle listing", UPDATES, "2025-09-09", ["Vehicle", "Car", "Motorcycle"]],
];

function feature([name, page, ofTypes, shape, more = {}]: Row): Feature {
  const usual = { condition: null, deprecated: false, note: null, reference: `${DOCS}${page}`, asOf: READ };
  return { name, types: new Set(ofTypes), shape, ...usual, ...more };
}

function ended([name, reference, asOf, ofTypes, condition = null]: Ended): Feature {
  const note = `No longer shown in search results (${asOf}).`;
  return {
    name,
    types: new Set(ofTypes),
    shape: shapes.DISCONTINUED,
    condition,
    deprecated: true,
    note,
    reference,
    asOf,
  };
}

/** All features that are checked, each by Google's documentation of its properties, and the features that ended. */
export const FEATURES: readonly Feature[] = [...ROWS.map(feature), ...ENDED.map(ended)];
