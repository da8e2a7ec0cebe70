import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import {
  count,
  findings,
  list,
  number,
  OBSERVED_FIELDS,
  PAGE_FIELDS,
  record,
  text,
  texts,
  truth,
  word,
} from "#shared/tools/shapes.ts";

function nullableText(description: string) {
  return Nullable(text(description));
}

const Property = Type.Object({ property: text("Name, e.g. book:isbn"), content: text("Content of the property") });

function media(what: string) {
  return list(
    Type.Object({
      url: nullableText("Address, resolved against the page; null if it is not valid"),
      secure_url: nullableText("Address over HTTPS as declared"),
      type: nullableText("Media type as declared"),
      width: Nullable(count("Declared width in pixels")),
      height: Nullable(count("Declared height in pixels")),
      alt: nullableText("Alternative text as declared"),
    }),
    `The first 10 ${what}, in page order`,
  );
}

const Article = Type.Object(
  {
    published_time: nullableText("article:published_time, unchanged"),
    modified_time: nullableText("article:modified_time, unchanged"),
    expiration_time: nullableText("article:expiration_time, unchanged"),
    section: nullableText("article:section"),
    author: texts("article:author"),
    tag: texts("article:tag"),
  },
  { description: "Properties of an article; null if there are none" },
);

const Graph = record(
  {
    title: nullableText("og:title"),
    type: nullableText("og:type"),
    url: nullableText("og:url, unchanged"),
    description: nullableText("og:description"),
    site_name: nullableText("og:site_name"),
    determiner: nullableText("og:determiner"),
    locale: nullableText("og:locale"),
    locale_alternate: texts("og:locale:alternate"),
    image: media("images"),
    video: media("videos"),
    audio: media("audio files"),
    article: Nullable(Article),
    other: list(Property, "The first 50 other properties of Open Graph and its object types"),
  },
  "The Open Graph object. If a property with one value occurs twice, the first counts",
);

const Card = record(
  {
    card: nullableText("twitter:card, unchanged"),
    effective: Nullable(
      word(
        ["summary", "summary_large_image", "app", "player"],
        "The card that X shows. Without twitter:card, a summary if og:type, og:title and og:description are present",
      ),
    ),
    site: nullableText("twitter:site"),
    creator: nullableText("twitter:creator"),
    title: nullableText("twitter:title"),
    description: nullableText("twitter:description"),
    image: nullableText("twitter:image, resolved against the page"),
    image_alt: nullableText("twitter:image:alt"),
    other: list(Property, "The first 30 other twitter properties"),
  },
  "The X (Twitter) card",
);

function preview(where: string) {
  return record(
    {
      title: nullableText("Title in the preview, cut to the platform's documented limit"),
      description: nullableText("Description in the preview, cut to the platform's documented limit"),
      image: nullableText("Address of the image in the preview"),
      domain: text("Host in the preview"),
      truncated: truth("Whether the title or the description exceeds the platform's documented limit"),
      layout: word(
        ["large", "small", "no_image", "no_card", "unknown"],
        "How the image is shown by the platform's documented sizes; no_card: a bare link; unknown: size or rule unknown",
      ),
      reference: text("URL of the platform's documentation"),
    },
    `Preview of a link to the page on ${where}`,
  );
}

const ImageCheck = Type.Object(
  {
    url: text("Address of the first og:image"),
    code: Nullable(Type.Integer({ description: "HTTP status; null without a response" })),
    content_type: nullableText("Content-Type as sent"),
    format: Nullable(
      word(
        ["png", "jpeg", "gif", "webp", "avif", "svg", "bmp"],
        "Format by the beginning of the file; null if it is not an image of these formats",
      ),
    ),
    type_matches: Nullable(truth("Whether Content-Type matches the format; null without a Content-Type")),
    bytes: Nullable(count("Size of the whole file in bytes; null if unknown")),
    width: Nullable(count("Width in the header of the file, in pixels; null if unknown")),
    height: Nullable(count("Height in the header of the file, in pixels; null if unknown")),
    ratio: Nullable(number("Width divided by height, rounded to 0.001; null if unknown")),
    error: nullableText("Why facts about the image are missing; null if they are complete"),
  },
  { description: "The first og:image as fetched; null if the page has none or it did not arrive in time" },
);

/** Contract of the tool that shows what a shared link to a page looks like. */
export const ogPreview = defineTool({
  name: "og-preview",
  title: "Social preview",
  summary:
    "Open Graph and X card of a page, previews of a link to it on four platforms, and faults of the tags and the image",
  scope: "check",
  toolset: "page",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  deadlineMs: () => 30_000,
  params: Type.Object({ url: Url({ description: "Page to preview; redirects are followed" }) }),
  result: Type.Object({
    ...PAGE_FIELDS,
    findings: findings("Faults of the tags and the image that keep platforms from using them; most severe first"),
    og: Graph,
    twitter: Card,
    fallback: record(
      {
        title: nullableText("The title element"),
        description: nullableText("The description meta element"),
        image: nullableText(
          "First image with a declared size of at least 200 x 200 pixels, otherwise the first without a declared size",
        ),
        favicon: nullableText("Icon that the page declares; null if there is none (browsers request /favicon.ico)"),
      },
      "Contents of the page that platforms use if social tags are missing",
    ),
    preview: record(
      { facebook: preview("Facebook"), x: preview("X"), linkedin: preview("LinkedIn"), slack: preview("Slack") },
      "Preview of the link on each platform, by its documentation",
    ),
    image_check: Nullable(ImageCheck),
    missing_required: texts("Missing properties among og:title, og:type, og:image and og:url"),
    ...OBSERVED_FIELDS,
  }),
});
