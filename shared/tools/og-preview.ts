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

const Property = Type.Object({ property: text("Name, e.g. book:isbn"), content: text("Its content") });

function media(what: string) {
  return list(
    Type.Object({
      url: nullableText("Its address, resolved against the page; null where it is none"),
      secure_url: nullableText("Address over HTTPS as declared"),
      type: nullableText("Media type as declared"),
      width: Nullable(count("Width as declared, pixels")),
      height: Nullable(count("Height as declared, pixels")),
      alt: nullableText("What it shows, as declared"),
    }),
    `${what} in the order of the page, at most 20`,
  );
}

const Article = Type.Object(
  {
    published_time: nullableText("article:published_time as written"),
    modified_time: nullableText("article:modified_time as written"),
    expiration_time: nullableText("article:expiration_time as written"),
    section: nullableText("article:section"),
    author: texts("article:author"),
    tag: texts("article:tag"),
  },
  { description: "Properties of an article; null where there are none" },
);

const Graph = record(
  {
    title: nullableText("og:title"),
    type: nullableText("og:type"),
    url: nullableText("og:url as written"),
    description: nullableText("og:description"),
    site_name: nullableText("og:site_name"),
    determiner: nullableText("og:determiner"),
    locale: nullableText("og:locale"),
    locale_alternate: texts("og:locale:alternate"),
    image: media("Images"),
    video: media("Videos"),
    audio: media("Sounds"),
    article: Nullable(Article),
    other: list(Property, "Every other property of Open Graph and its object types"),
  },
  "The Open Graph object; of a single property given twice the first counts",
);

const Card = record(
  {
    card: nullableText("twitter:card as written"),
    effective: Nullable(
      word(
        ["summary", "summary_large_image", "app", "player"],
        "The card X makes: without twitter:card a summary where og:type, og:title and og:description are there",
      ),
    ),
    site: nullableText("twitter:site"),
    creator: nullableText("twitter:creator"),
    title: nullableText("twitter:title"),
    description: nullableText("twitter:description"),
    image: nullableText("twitter:image, resolved against the page"),
    image_alt: nullableText("twitter:image:alt"),
    other: list(Property, "Every other twitter property"),
  },
  "The X (Twitter) card",
);

function preview(where: string) {
  return record(
    {
      title: nullableText("Title shown, cut where the platform documents a limit"),
      description: nullableText("Description shown, likewise"),
      image: nullableText("Address of the image shown"),
      domain: text("Host shown"),
      truncated: truth("Title or description are longer than the platform documents to show"),
      layout: word(
        ["large", "small", "no_image", "no_card", "unknown"],
        "How the image is shown by the platform's documented sizes; no_card: a bare link; unknown: size or rule not known",
      ),
      reference: text("The platform's documentation"),
    },
    `A link to the page on ${where}`,
  );
}

const ImageCheck = Type.Object(
  {
    url: text("Address of the first og:image"),
    code: Nullable(Type.Integer({ description: "HTTP status; null where nothing answered" })),
    content_type: nullableText("Content-Type as sent"),
    format: Nullable(
      word(
        ["png", "jpeg", "gif", "webp", "avif", "svg", "bmp"],
        "What the file begins like; null where it is no image",
      ),
    ),
    type_matches: Nullable(truth("Content-Type names the format the file has; null without one")),
    bytes: Nullable(count("Size of the whole file, bytes")),
    width: Nullable(count("Width by the file's own header, pixels")),
    height: Nullable(count("Height by the file's own header, pixels")),
    ratio: Nullable(number("Width divided by height, to 0.001")),
    error: nullableText("Why the image is not or only partly known"),
  },
  { description: "The first og:image as it was fetched; null where the page names none" },
);

/** What a shared link to a page looks like. */
export const ogPreview = defineTool({
  name: "og-preview",
  title: "Social preview",
  summary:
    "Open Graph and X card of a page, what a link to it looks like on four platforms, and whether its image fits",
  scope: "check",
  toolset: "page",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  deadlineMs: () => 30_000,
  params: Type.Object({ url: Url({ description: "Page to preview; redirects are followed" }) }),
  result: Type.Object({
    ...PAGE_FIELDS,
    findings: findings("What platforms cannot use of the tags and the image; worst first"),
    og: Graph,
    twitter: Card,
    fallback: record(
      {
        title: nullableText("The title element"),
        description: nullableText("The description meta element"),
        image: nullableText("First image declared at least 200 pixels wide and high, else the first of unknown size"),
        favicon: nullableText("Icon the page declares; null where browsers would ask for /favicon.ico"),
      },
      "What platforms use where social tags are missing",
    ),
    preview: record(
      { facebook: preview("Facebook"), x: preview("X"), linkedin: preview("LinkedIn"), slack: preview("Slack") },
      "The link on each platform, by its documentation",
    ),
    image_check: Nullable(ImageCheck),
    missing_required: texts("og:title, og:type, og:image and og:url as far as they are missing"),
    ...OBSERVED_FIELDS,
  }),
});
