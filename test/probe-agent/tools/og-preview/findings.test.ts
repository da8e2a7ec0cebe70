import { expect, it } from "vitest";
import { readHtml } from "#probe-agent/analysis/html/read-page.ts";
import { socialFindings } from "#probe-agent/tools/og-preview/findings.ts";
import type { FetchedImage } from "#probe-agent/tools/og-preview/subject.ts";
import { makePreviews, readSocial } from "#probe-agent/tools/og-preview/preview.ts";
import { expectWellFormed } from "#test/support/findings.ts";

const PAGE = "https://example.com/page";
const IMAGE = "https://example.com/i.png";
const SEEN: FetchedImage = {
  url: IMAGE,
  code: 200,
  content_type: "image/png",
  format: "png",
  width: 1200,
  height: 630,
  error: null,
};
const TAGS: Readonly<Record<string, string>> = {
  "og:title": "T",
  "og:type": "website",
  "og:url": PAGE,
  "og:image": IMAGE,
  "og:image:width": "1200",
  "og:image:height": "630",
  "og:image:alt": "A",
  "og:description": "D",
};

interface Over {
  readonly tags?: Readonly<Record<string, string | null>>;
  readonly card?: string | null;
  /** Elements before and behind the others. */
  readonly before?: string;
  readonly more?: string;
  readonly seen?: Partial<FetchedImage> | null;
  readonly bytes?: number;
}

function findingsOf({
  tags = {},
  card = "summary_large_image",
  before = "",
  more = "",
  seen = {},
  bytes = 1000,
}: Over) {
  const metas = Object.entries({ ...TAGS, ...tags }).flatMap(([name, content]) =>
    content === null ? [] : [`<meta property="${name}" content="${content}">`],
  );
  const x = card === null ? "" : `<meta name="twitter:card" content="${card}">`;
  const social = readSocial(readHtml(`<head>${before}${metas.join("")}${x}${more}`), PAGE);
  const { reading, fallback } = social;
  const image = seen === null ? null : { ...SEEN, ...seen };
  const checked = image === null ? null : { ...image, bytes, reachable: image.code === 200 };
  const previews = makePreviews({ pageUrl: PAGE, graph: reading.graph, card: social.card, fallback, checked });
  return socialFindings({ pageUrl: PAGE, tags: social.tags, reading, card: social.card, image, previews });
}

/** A kind of fault, with its severity and a part of its advice, or of "message => advice". */
const KINDS: readonly (readonly [id: string, severity: string, words: string | RegExp, over: Over])[] = [
  ["og-missing", "warning", '<meta property="og:type" content="website">', { tags: { "og:type": null } }],
  ["og-description-missing", "info", "og:description", { tags: { "og:description": null } }],
  ["og-empty", "warning", "content attribute", { tags: { "og:title": "" } }],
  [
    "og-in-name-attribute",
    "info",
    /name instead of property.*og:locale.*=> .*property="og:locale"/,
    { more: "<meta name=og:locale content=en>" },
  ],
  [
    "og-in-body",
    "warning",
    /in the body.*og:locale.*=> .*into the head/,
    { more: "</head><body><meta property=og:locale content=en>" },
  ],
  ["og-repeated", "info", /more than once.*og:title.*=> .*one element/, { more: "<meta property=og:title content=U>" }],
  ["og-order", "warning", /ignore them: og:image:width/, { before: "<meta property=og:image:width content=1>" }],
  [
    "og-url-not-absolute",
    "warning",
    /og:url is not an absolute.*=> .*example\.com\/page/,
    { tags: { "og:url": "/page" } },
  ],
  ["og-url-other-host", "warning", PAGE, { tags: { "og:url": "https://o.test/" } }],
  ["x-card-missing", "info", /twitter:card is missing.*=> .*summary_large_image/, { card: null }],
  ["x-card-unknown", "warning", "summary_large_image", { card: "photo" }],
  [
    "image-relative",
    "warning",
    /relative address.*=> .*https:\/\/example\.com\/i\.png/,
    { tags: { "og:image": "/i.png" } },
  ],
  ["image-over-http", "warning", IMAGE, { tags: { "og:image": "http://example.com/i.png" } }],
  ["image-not-fetchable", "warning", "https", { tags: { "og:image": "data:image/png;base64,AAAA" } }],
  ["image-not-fetched", "warning", /responds with HTTP status 403\..*=> .*without sign-in/, { seen: { code: 403 } }],
  ["image-alt-missing", "info", "og:image:alt", { tags: { "og:image:alt": null } }],
  ["image-size-missing", "info", 'og:image:height" content="630"', { tags: { "og:image:width": null } }],
  ["image-size-differs", "info", /800 x 630 pixels, but is declared as 1200 x 630/, { seen: { width: 800 } }],
  ["image-unknown-format", "warning", "PNG or JPEG", { seen: { format: null } }],
  [
    "image-wrong-type",
    "warning",
    /is a jpeg file, but is served as image\/png.*=> .*Content-Type: image\/jpeg/,
    { seen: { format: "jpeg" } },
  ],
  ["image-format-refused", "warning", "jpeg", { seen: { format: "svg", content_type: "image/svg+xml" } }],
  ["image-too-large", "warning", /is 9 MB\. Facebook shows images of up to 8 MB/, { bytes: 9_000_000 }],
  [
    "image-too-small",
    "warning",
    /100 x 100 pixels\. Facebook shows no images smaller than 200 x 200 pixels\..*=> .*1200 x 630/,
    { seen: { width: 100, height: 100 } },
  ],
  [
    "image-shown-small",
    "info",
    /700 x 400 pixels\. LinkedIn shows large previews only from 1200 x 627 pixels\./,
    { seen: { width: 700, height: 400 } },
  ],
];

it("a page with all tags and a good image has no findings", () => {
  expect(findingsOf({})).toEqual([]);
});

it.each(KINDS)("%s has the severity %s and words that contain: %s", (id, severity, words, over) => {
  const findings = findingsOf(over);
  const found = findings.filter((finding) => finding.id === id);
  expect(found[0]).toMatchObject({ severity });
  const texts = found.map(({ message, how }) => (typeof words === "string" ? how : `${message} => ${how}`));
  expect(texts.join(" ")).toMatch(words);
  for (const finding of findings) expectWellFormed([finding]);
});

it("each platform whose limit an image exceeds has a finding", () => {
  const refused = findingsOf({ bytes: 6_000_000 });
  expect(refused.map(({ id, where }) => [id, where])).toEqual([
    ["image-too-large", "preview.x"],
    ["image-too-large", "preview.linkedin"],
  ]);
});
