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
  readonly more?: string;
  readonly seen?: Partial<FetchedImage> | null;
  readonly bytes?: number;
}

function findingsOf({ tags = {}, card = "summary_large_image", more = "", seen = {}, bytes = 1000 }: Over) {
  const metas = Object.entries({ ...TAGS, ...tags }).flatMap(([name, content]) =>
    content === null ? [] : [`<meta property="${name}" content="${content}">`],
  );
  const x = card === null ? "" : `<meta name="twitter:card" content="${card}">`;
  const social = readSocial(readHtml(`<head>${metas.join("")}${x}${more}`), PAGE);
  const { reading, fallback } = social;
  const image = seen === null ? null : { ...SEEN, ...seen };
  const checked = image === null ? null : { ...image, bytes, reachable: image.code === 200 };
  const previews = makePreviews({ pageUrl: PAGE, graph: reading.graph, card: social.card, fallback, checked });
  return socialFindings({ pageUrl: PAGE, tags: social.tags, reading, card: social.card, image, previews });
}

const KINDS: readonly (readonly [id: string, severity: string, how: string, over: Over])[] = [
  ["og-missing", "warning", '<meta property="og:type" content="website">', { tags: { "og:type": null } }],
  ["og-description-missing", "info", "og:description", { tags: { "og:description": null } }],
  ["og-empty", "warning", "content attribute", { tags: { "og:title": "" } }],
  ["og-in-name-attribute", "info", 'property="og:locale"', { more: "<meta name=og:locale content=en>" }],
  ["og-in-body", "warning", "into the head", { more: "</head><body><meta property=og:locale content=en>" }],
  ["og-repeated", "info", "one element", { more: "<meta property=og:title content=U>" }],
  ["og-url-not-absolute", "warning", PAGE, { tags: { "og:url": "/page" } }],
  ["og-url-other-host", "warning", PAGE, { tags: { "og:url": "https://o.test/" } }],
  ["x-card-missing", "info", "summary_large_image", { card: null }],
  ["x-card-unknown", "warning", "summary_large_image", { card: "photo" }],
  ["image-relative", "warning", IMAGE, { tags: { "og:image": "/i.png" } }],
  ["image-over-http", "warning", IMAGE, { tags: { "og:image": "http://example.com/i.png" } }],
  ["image-not-fetchable", "warning", "https", { tags: { "og:image": "data:image/png;base64,AAAA" } }],
  ["image-not-fetched", "warning", "without sign-in", { seen: { code: 403 } }],
  ["image-alt-missing", "info", "og:image:alt", { tags: { "og:image:alt": null } }],
  ["image-size-missing", "info", 'og:image:height" content="630"', { tags: { "og:image:width": null } }],
  ["image-size-differs", "info", "og:image:width 800", { seen: { width: 800 } }],
  ["image-unknown-format", "warning", "PNG or JPEG", { seen: { format: null } }],
  ["image-wrong-type", "warning", "Content-Type: image/png", { seen: { content_type: "text/plain" } }],
  ["image-format-refused", "warning", "jpeg", { seen: { format: "svg", content_type: "image/svg+xml" } }],
  ["image-too-large", "warning", "8 MB", { bytes: 9_000_000 }],
  ["image-too-small", "warning", "1200 x 630", { seen: { width: 100, height: 100 } }],
  ["image-shown-small", "info", "1200 x 630", { seen: { width: 700, height: 400 } }],
];

it("a page with all tags and a good image has no findings", () => {
  expect(findingsOf({})).toEqual([]);
});

it.each(KINDS)("%s has the severity %s and advice that contains: %s", (id, severity, how, over) => {
  const findings = findingsOf(over);
  const one = findings.find((finding) => finding.id === id);
  expect(one).toMatchObject({ severity });
  expect(one?.how).toContain(how);
  for (const finding of findings) expectWellFormed([finding]);
});

it("properties before the image that they describe are listed", () => {
  const social = readSocial(
    readHtml(`<head><meta property=og:image:width content=1><meta property=og:image content=${IMAGE}>`),
    PAGE,
  );
  const { reading, card, fallback, tags } = social;
  const previews = makePreviews({ pageUrl: PAGE, graph: reading.graph, card, fallback, checked: null });
  const found = socialFindings({ pageUrl: PAGE, tags, reading, card, image: null, previews });
  expect(found.find(({ id }) => id === "og-order")?.message).toContain("og:image:width");
});

it("each platform whose limit an image exceeds has a finding", () => {
  const refused = findingsOf({ bytes: 6_000_000 });
  expect(refused.map(({ id, where }) => [id, where])).toEqual([
    ["image-too-large", "preview.x"],
    ["image-too-large", "preview.linkedin"],
  ]);
});
