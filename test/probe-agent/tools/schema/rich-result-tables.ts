/** A JSON-LD object without its context. */
export type JsonLdNode = Readonly<Record<string, unknown>>;

/** An offer of a merchant listing. */
export const offer = { "@type": "Offer", price: 9, priceCurrency: "EUR" };
/** A rating with all required properties. */
export const rating = { "@type": "AggregateRating", ratingValue: 4, ratingCount: 2 };
const book = { "@type": "Book", name: "B" };
/** Makes an element of a list. */
export const element = (more: JsonLdNode) => ({ "@type": "ListItem", ...more });
/** A movie with all required properties, as an element of a carousel. */
export const movie = { "@type": "Movie", name: "M", url: "https://example.com/page#m", image: "/m.jpg" };

/** The table of a feature, as an object that meets its requirements and the messages for missing properties. */
export interface Row {
  readonly feature: string;
  readonly page: string;
  /** Default: 2026-09-01. */
  readonly asOf?: string;
  /** An object with all properties that the table requires. */
  readonly minimal: JsonLdNode;
  /** The missing required properties when a property of `minimal` is removed, keyed by that property. Default: none. */
  readonly required?: Readonly<Record<string, string>>;
  /** The recommended properties that `minimal` lacks. Default: none. */
  readonly recommended?: string;
}

/**
 * The tables that Google publishes under developers.google.com/search/docs/appearance/structured-data. They are written
 * from its pages on the dates given, independently of the product's own table.
 */
export const TABLES: readonly Row[] = [
  {
    feature: "Article",
    page: "article",
    minimal: { "@type": "NewsArticle" },
    recommended: "author dateModified datePublished headline image",
  },
  {
    feature: "Product",
    page: "product-snippet",
    minimal: { "@type": "Product", name: "P", aggregateRating: rating },
    required: { name: "name", aggregateRating: "review or aggregateRating or offers" },
    recommended: "offers review",
  },
  {
    feature: "Merchant listing",
    page: "merchant-listing",
    minimal: { "@type": "Product", name: "P", image: "/p.jpg", offers: offer },
    required: { name: "name", image: "image" },
    recommended:
      "aggregateRating brand.name description gtin|gtin8|gtin12|gtin13|gtin14|isbn|mpn review sku " +
      "offers.availability offers.hasMerchantReturnPolicy offers.itemCondition offers.shippingDetails offers.url",
  },
  {
    feature: "Breadcrumb",
    page: "breadcrumb",
    asOf: "2026-10-10",
    minimal: {
      "@type": "BreadcrumbList",
      itemListElement: [element({ name: "A", position: 1, item: "/a" }), element({ name: "B", position: 2 })],
    },
    required: { itemListElement: "itemListElement" },
  },
  {
    feature: "Carousel",
    page: "carousel",
    minimal: { "@type": "ItemList", itemListElement: [1, 2].map((n) => element({ position: n, url: `/${n}` })) },
  },
  {
    feature: "Carousel",
    page: "carousel",
    minimal: { "@type": "ItemList", itemListElement: [1, 2].map((n) => element({ position: n, item: movie })) },
  },
  {
    feature: "Course list",
    page: "course",
    minimal: { "@type": "Course", name: "C", description: "D" },
    required: { name: "name", description: "description" },
    recommended: "provider",
  },
  {
    feature: "Dataset",
    page: "dataset",
    minimal: { "@type": "Dataset", name: "D", description: "D" },
    required: { name: "name", description: "description" },
    recommended: "creator distribution identifier keywords license url",
  },
  {
    feature: "Discussion forum",
    page: "discussion-forum",
    minimal: {
      "@type": "DiscussionForumPosting",
      author: { "@type": "Person", name: "A" },
      datePublished: "2026-01-01",
      text: "T",
    },
    required: {
      author: "author",
      datePublished: "datePublished",
      text: "text or image or video or sharedContent or url",
    },
    recommended: "headline url author.url|author.sameAs",
  },
  {
    feature: "Education Q&A",
    page: "education-qa",
    minimal: {
      "@type": "Quiz",
      hasPart: { "@type": "Question", eduQuestionType: "Flashcard", text: "Q", acceptedAnswer: { text: "A" } },
    },
    required: { hasPart: "hasPart" },
    recommended: "about educationalAlignment",
  },
  {
    feature: "Employer aggregate rating",
    page: "employer-rating",
    minimal: { ...rating, "@type": "EmployerAggregateRating", itemReviewed: { "@type": "Organization", name: "O" } },
    required: { itemReviewed: "itemReviewed", ratingValue: "ratingValue", ratingCount: "ratingCount or reviewCount" },
    recommended: "itemReviewed.sameAs",
  },
  {
    feature: "Event",
    page: "event",
    minimal: { "@type": "Festival", name: "E", startDate: "2026-01-01", location: { "@type": "Place", address: "A" } },
    required: { name: "name", startDate: "startDate", location: "location" },
    recommended: "description endDate eventStatus image offers organizer performer location.name",
  },
  {
    feature: "Image metadata",
    page: "image-license-metadata",
    asOf: "2026-10-10",
    minimal: { "@type": "ImageObject", contentUrl: "/i.jpg", license: "/l", acquireLicensePage: "/a" },
    required: { contentUrl: "contentUrl or url", license: "creator or creditText or copyrightNotice or license" },
    recommended: "copyrightNotice creator creditText",
  },
  {
    feature: "JobPosting",
    page: "job-posting",
    minimal: {
      "@type": "JobPosting",
      title: "T",
      description: "D",
      datePosted: "2026-01-01",
      hiringOrganization: { name: "O" },
      jobLocation: { address: { addressCountry: "DE" } },
    },
    required: {
      title: "title",
      description: "description",
      datePosted: "datePosted",
      hiringOrganization: "hiringOrganization",
      jobLocation: "jobLocation or applicantLocationRequirements; jobLocation or jobLocationType",
    },
    recommended: "baseSalary directApply employmentType identifier validThrough",
  },
  {
    feature: "LocalBusiness",
    page: "local-business",
    minimal: { "@type": "Restaurant", name: "R", address: "A" },
    required: { name: "name", address: "address" },
    recommended: "geo openingHoursSpecification priceRange telephone url",
  },
  {
    feature: "Math solver",
    page: "math-solvers",
    minimal: {
      "@type": ["MathSolver", "LearningResource"],
      learningResourceType: "Math Solver",
      url: "/",
      usageInfo: "/privacy",
      potentialAction: {
        "@type": "SolveMathAction",
        target: "/solve?q={e}",
        "mathExpression-input": "required name=e",
      },
    },
    required: {
      learningResourceType: "learningResourceType",
      url: "url",
      usageInfo: "usageInfo",
      potentialAction: "potentialAction",
    },
    recommended: "inLanguage potentialAction.eduQuestionType",
  },
  {
    feature: "Movie",
    page: "movie",
    minimal: { "@type": "Movie", name: "M", image: { "@type": "ImageObject", url: "/m.jpg" } },
    required: { name: "name", image: "image" },
    recommended: "aggregateRating dateCreated director review",
  },
  {
    feature: "Organization",
    page: "organization",
    asOf: "2026-10-10",
    minimal: { "@type": "Corporation" },
    recommended: "address alternateName contactPoint description email logo name sameAs telephone url",
  },
  {
    feature: "Paywalled content",
    page: "paywalled-content",
    minimal: { "@type": "NewsArticle", isAccessibleForFree: false },
    recommended: "hasPart.cssSelector hasPart.isAccessibleForFree",
  },
  {
    feature: "Profile page",
    page: "profile-page",
    asOf: "2026-10-10",
    minimal: { "@type": "ProfilePage", mainEntity: { "@type": "Person", alternateName: "@a" } },
    required: { mainEntity: "mainEntity" },
    recommended:
      "dateCreated dateModified mainEntity.description mainEntity.identifier mainEntity.image " +
      "mainEntity.interactionStatistic mainEntity.sameAs",
  },
  {
    feature: "Q&A",
    page: "qapage",
    minimal: {
      "@type": "QAPage",
      mainEntity: { "@type": "Question", name: "Q", answerCount: 1, suggestedAnswer: { "@type": "Answer", text: "A" } },
    },
    required: { mainEntity: "mainEntity" },
    recommended:
      "mainEntity.author mainEntity.datePublished mainEntity.text mainEntity.upvoteCount mainEntity.suggestedAnswer.author " +
      "mainEntity.suggestedAnswer.datePublished mainEntity.suggestedAnswer.upvoteCount mainEntity.suggestedAnswer.url",
  },
  {
    feature: "Recipe",
    page: "recipe",
    minimal: { "@type": "Recipe", name: "R", image: ["/1.jpg", "/2.jpg"] },
    required: { name: "name", image: "image" },
    recommended:
      "aggregateRating author datePublished description keywords nutrition.calories totalTime|cookTime " +
      "totalTime|prepTime recipeCategory recipeCuisine recipeIngredient recipeInstructions recipeYield video",
  },
  {
    feature: "Return policy",
    page: "return-policy",
    minimal: {
      "@type": "MerchantReturnPolicy",
      applicableCountry: "DE",
      returnPolicyCategory: "https://schema.org/MerchantReturnFiniteReturnWindow",
      merchantReturnDays: 30,
    },
    required: {
      applicableCountry: "applicableCountry or merchantReturnLink",
      returnPolicyCategory: "returnPolicyCategory or merchantReturnLink",
      merchantReturnDays: "merchantReturnDays",
    },
    recommended: "returnFees returnMethod",
  },
  {
    feature: "Return policy",
    page: "return-policy",
    minimal: { "@type": "MerchantReturnPolicy", merchantReturnLink: "/returns" },
    required: {
      merchantReturnLink: "applicableCountry or merchantReturnLink; returnPolicyCategory or merchantReturnLink",
    },
  },
  {
    feature: "Review snippet",
    page: "review-snippet",
    minimal: { "@type": "Review", author: "Jane", itemReviewed: book, reviewRating: { ratingValue: 4 } },
    required: { author: "author", itemReviewed: "itemReviewed", reviewRating: "reviewRating" },
    recommended: "datePublished author.url|author.sameAs",
  },
  {
    feature: "Review snippet",
    page: "review-snippet",
    minimal: { ...rating, itemReviewed: book },
    required: { itemReviewed: "itemReviewed", ratingValue: "ratingValue", ratingCount: "ratingCount or reviewCount" },
  },
  {
    feature: "Review snippet",
    page: "review-snippet",
    minimal: { ...book, aggregateRating: rating, review: { author: { name: "A" }, reviewRating: { ratingValue: 1 } } },
    required: { name: "name" },
    recommended: "review.datePublished review.author.url|review.author.sameAs",
  },
  {
    feature: "Software app",
    page: "software-app",
    minimal: { "@type": "WebApplication", name: "A", offers: { "@type": "Offer", price: 0 }, aggregateRating: rating },
    required: { name: "name", offers: "offers.price", aggregateRating: "aggregateRating or review" },
    recommended: "applicationCategory operatingSystem",
  },
  {
    feature: "Speakable",
    page: "speakable",
    minimal: { "@type": "WebPage", speakable: { "@type": "SpeakableSpecification", xPath: ["/html/head/title"] } },
  },
  {
    feature: "Vacation rental",
    page: "vacation-rental",
    minimal: {
      "@type": "VacationRental",
      name: "V",
      identifier: "1",
      latitude: 1.00001,
      geo: { longitude: 2.00001 },
      image: Array.from({ length: 8 }, (_, n) => `/${n}.jpg`),
      containsPlace: { "@type": "Accommodation", occupancy: { value: 4 } },
    },
    required: {
      name: "name",
      identifier: "identifier",
      latitude: "latitude or geo.latitude",
      geo: "longitude or geo.longitude",
      image: "image",
      containsPlace: "containsPlace",
    },
    recommended:
      "additionalType address aggregateRating checkinTime checkoutTime containsPlace.additionalType " +
      "containsPlace.amenityFeature review",
  },
  {
    feature: "Video",
    page: "video",
    minimal: { "@type": "VideoObject", name: "V", thumbnailUrl: "/t.jpg", uploadDate: "2026-01-01" },
    required: { name: "name", thumbnailUrl: "thumbnailUrl", uploadDate: "uploadDate" },
    recommended: "contentUrl|embedUrl description duration",
  },
];

/** Features that Google has ended, with the date and an object that had the feature. */
export const ENDED: readonly (readonly [feature: string, date: string, thing: JsonLdNode])[] = [
  ["Book actions", "2025-06-12", { ...book, potentialAction: { "@type": "ReadAction" } }],
  ["Course info", "2025-09-09", { "@type": "Course", hasCourseInstance: { courseMode: "online" } }],
  ["Estimated salary", "2025-09-09", { "@type": "Occupation", name: "O" }],
  ["Fact check", "2025-06-12", { "@type": "ClaimReview" }],
  ["FAQ", "2026-05-07", { "@type": "FAQPage" }],
  ["How-to", "2023-09-14", { "@type": "HowTo", step: "S" }],
  ["Learning video", "2025-09-09", { "@type": ["VideoObject", "LearningResource"] }],
  ["Practice problem", "2026-01-06", { "@type": "Quiz", learningResourceType: "Practice problem" }],
  ["Sitelinks search box", "2024-11-29", { "@type": "WebSite", potentialAction: { "@type": "SearchAction" } }],
  ["Special announcement", "2025-09-09", { "@type": "SpecialAnnouncement" }],
  ["Vehicle listing", "2025-09-09", { "@type": "Car", name: "C" }],
];
