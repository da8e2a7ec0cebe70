import {
  has,
  holds,
  listsPages,
  listsThings,
  not,
  says,
  type Condition,
} from "#probe-agent/analysis/page/structured/conditions.ts";
import * as types from "#probe-agent/analysis/page/structured/feature-types.ts";
import * as shapes from "#probe-agent/analysis/page/structured/shapes.ts";
import type { Shape } from "#probe-agent/analysis/page/structured/shape.ts";

/** A kind of rich result. */
export interface Feature {
  readonly name: string;
  readonly types: ReadonlySet<string>;
  readonly shape: Shape;
  /** Only for things that are meant for it, e.g. a shop's listing needs an Offer; null: for all of the types. */
  readonly condition: Condition | null;
  /** The search engine no longer shows it. */
  readonly deprecated: boolean;
  readonly note: string | null;
  /** Where the requirements are documented. */
  readonly reference: string;
  /** Date on which that documentation was read, or on which the feature ended; YYYY-MM-DD. */
  readonly asOf: string;
}

const DOCS = "https://developers.google.com/search/docs/appearance/structured-data/";
/** Date on which the tables were read, where a row has no other. */
const READ = "2026-09-01";
/** Likewise of those read again later. */
const READ_AGAIN = "2026-10-10";

const isFiniteReturn = says("returnPolicyCategory", "merchantreturnfinitereturnwindow");

type Row = readonly [name: string, page: string, types: readonly string[], shape: Shape, more?: Partial<Feature>];

const ROWS: readonly Row[] = [
  ["Article", "article", types.ARTICLES, shapes.ARTICLE],
  ["Product", "product-snippet", types.PRODUCTS, shapes.PRODUCT_SNIPPET],
  [
    "Merchant listing",
    "merchant-listing",
    types.PRODUCTS,
    shapes.MERCHANT_LISTING,
    { condition: holds("offers", "Offer") },
  ],
  ["Breadcrumb", "breadcrumb", ["BreadcrumbList"], shapes.BREADCRUMB, { asOf: READ_AGAIN }],
  [
    "Carousel",
    "carousel",
    ["ItemList"],
    shapes.CAROUSEL_SUMMARY,
    { condition: listsPages, note: "For lists of recipes, courses, movies or restaurants only." },
  ],
  ["Carousel", "carousel", ["ItemList"], shapes.CAROUSEL_ALL_IN_ONE, { condition: listsThings }],
  ["Course list", "course", ["Course"], shapes.COURSE_LIST, { note: "Needs a list of at least three courses." }],
  ["Dataset", "dataset", ["Dataset"], shapes.DATASET, { note: "Shown in Google's Dataset Search." }],
  ["Discussion forum", "discussion-forum", ["DiscussionForumPosting", "SocialMediaPosting"], shapes.DISCUSSION_FORUM],
  [
    "Education Q&A",
    "education-qa",
    ["Quiz"],
    shapes.EDUCATION_QA,
    { condition: not(says("learningResourceType", "practice problem")) },
  ],
  ["Employer aggregate rating", "employer-rating", ["EmployerAggregateRating"], shapes.EMPLOYER_RATING],
  ["Event", "event", types.EVENTS, shapes.EVENT, { note: "Events without a physical place are not shown." }],
  [
    "Image metadata",
    "image-license-metadata",
    ["ImageObject"],
    shapes.IMAGE_METADATA,
    { asOf: READ_AGAIN, condition: has("creator", "creditText", "copyrightNotice", "license", "acquireLicensePage") },
  ],
  ["JobPosting", "job-posting", ["JobPosting"], shapes.JOB_POSTING],
  ["LocalBusiness", "local-business", types.BUSINESSES, shapes.LOCAL_BUSINESS],
  ["Math solver", "math-solvers", ["MathSolver"], shapes.MATH_SOLVER],
  ["Movie", "movie", ["Movie"], shapes.MOVIE, { note: "Shown in a carousel, which needs a list of movies." }],
  ["Organization", "organization", types.ORGANIZATIONS, shapes.ORGANIZATION, { asOf: READ_AGAIN }],
  [
    "Paywalled content",
    "paywalled-content",
    types.PAYWALLED,
    shapes.PAYWALL,
    { condition: says("isAccessibleForFree", "false") },
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
    { condition: has("aggregateRating", "review") },
  ],
  ["Software app", "software-app", types.APPS, shapes.SOFTWARE_APP],
  [
    "Speakable",
    "speakable",
    [...types.ARTICLES, "WebPage"],
    shapes.SPEAKABLE,
    { condition: has("speakable"), note: "In beta: for news in English, in the United States." },
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

/** What Google no longer shows, with the date on which it ended or its documentation was removed. */
const ENDED: readonly Ended[] = [
  ["Book actions", SIMPLER, "2025-06-12", ["Book"], has("potentialAction")],
  ["Course info", UPDATES, "2025-09-09", ["Course"], has("hasCourseInstance")],
  ["Estimated salary", UPDATES, "2025-09-09", ["Occupation", "OccupationAggregationByEmployer"]],
  ["Fact check", SIMPLER, "2025-06-12", ["ClaimReview"]],
  ["FAQ", UPDATES, "2026-05-07", ["FAQPage"]],
  ["How-to", UPDATES, "2023-09-14", ["HowTo"]],
  ["Learning video", UPDATES, "2025-09-09", ["VideoObject"], ({ types: all }) => all.includes("LearningResource")],
  ["Practice problem", UPDATES, "2026-01-06", ["Quiz"], says("learningResourceType", "practice problem")],
  ["Sitelinks search box", UPDATES, "2024-11-29", ["WebSite"], holds("potentialAction", "SearchAction")],
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

/** The features looked at, each by Google's documentation of its properties, and those that have ended. */
export const FEATURES: readonly Feature[] = [...ROWS.map(feature), ...ENDED.map(ended)];
