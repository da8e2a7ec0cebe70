import type { AdviceTable, FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import { missingRequired } from "#probe-agent/analysis/page/social/required.ts";
import type { SocialSubject } from "#probe-agent/analysis/page/social/subject.ts";

const OPEN_GRAPH = "https://ogp.me/";
const SHARING = "https://developers.facebook.com/docs/sharing/webmasters/images/";
const X_CARDS = "https://developer.x.com/en/docs/x-for-websites/cards/overview/markup";
const ADD_CARD = 'Add to the head: <meta name="twitter:card" content="summary_large_image">';
const SIZE = "Publish an image of 1200 x 630 pixels.";
/** Maximum length of an address that is quoted, in characters. */
const MAX_URL = 200;
const MAX_IMAGE_URL = 300;

/**
 * Severity and advice for each kind of finding. None is critical, because a link without a preview still leads to the
 * page.
 */
export const SOCIAL_ADVICE = {
  "og-missing": {
    severity: "warning",
    how: ({ reading, pageUrl }) =>
      `Add to the head: ${missingRequired(reading)
        .map((name) => `<meta property="${name}" content="${exampleContent(name, pageUrl)}">`)
        .join(" ")}`,
    reference: OPEN_GRAPH,
  },
  "og-description-missing": {
    severity: "info",
    how: 'Add to the head: <meta property="og:description" content="One or two sentences about the page">',
    reference: OPEN_GRAPH,
  },
  "og-empty": {
    severity: "warning",
    how: "Fill in the content attribute, or remove the elements.",
    reference: OPEN_GRAPH,
  },
  "og-in-name-attribute": {
    severity: "info",
    how: ({ tags: { misplaced } }) => `Write property="${misplaced[0]}" instead of name="${misplaced[0]}".`,
    reference: OPEN_GRAPH,
  },
  "og-in-body": {
    severity: "warning",
    how: "Move these meta elements into the head, before any element that ends the head.",
    reference: OPEN_GRAPH,
  },
  "og-repeated": { severity: "info", how: "Keep one element for each of them.", reference: OPEN_GRAPH },
  "og-order": {
    severity: "warning",
    how: "Write og:image (og:video, og:audio) first, then its width, height, type and alt.",
    reference: OPEN_GRAPH,
  },
  "too-many-tags": { severity: "info", how: "Keep one set of Open Graph and X card tags.", reference: OPEN_GRAPH },
  "og-url-not-absolute": { severity: "warning", how: useOwnUrl, reference: OPEN_GRAPH },
  "og-url-other-host": { severity: "warning", how: useOwnUrl, reference: OPEN_GRAPH },
  "x-card-missing": { severity: "info", how: ADD_CARD, reference: X_CARDS },
  "x-card-unknown": { severity: "warning", how: ADD_CARD, reference: X_CARDS },
  "image-relative": {
    severity: "warning",
    how: (subject) =>
      `Write the full address: <meta property="og:image" content="${imageUrl(subject) ?? "https://..."}">`,
    reference: OPEN_GRAPH,
  },
  "image-over-http": {
    severity: "warning",
    how: (subject) => `Write <meta property="og:image" content="${imageUrl(subject)?.replace(/^http:/, "https:")}">`,
    reference: OPEN_GRAPH,
  },
  "image-not-fetchable": {
    severity: "warning",
    how: "Publish the image as a file, and use its https address in og:image.",
    reference: OPEN_GRAPH,
  },
  "image-not-fetched": {
    severity: "warning",
    how: "Publish the image at this address for everyone, without sign-in, or use another address.",
    reference: OPEN_GRAPH,
  },
  "image-alt-missing": {
    severity: "info",
    how: 'Add after og:image: <meta property="og:image:alt" content="What the image shows">',
    reference: OPEN_GRAPH,
  },
  "image-size-missing": {
    severity: "info",
    how: ({ image }) =>
      `Add after og:image: <meta property="og:image:width" content="${image?.width ?? 1200}"> <meta property="og:image:height" content="${image?.height ?? 630}">`,
    reference: SHARING,
  },
  "image-size-differs": {
    severity: "info",
    how: ({ image }) => `Set og:image:width ${image?.width} and og:image:height ${image?.height}.`,
    reference: OPEN_GRAPH,
  },
  "image-unknown-format": {
    severity: "warning",
    how: "Publish a PNG or JPEG file at this address.",
    reference: OPEN_GRAPH,
  },
  "image-wrong-type": {
    severity: "warning",
    how: ({ image }) => `Send Content-Type: image/${image?.format} with this file.`,
    reference: OPEN_GRAPH,
  },
  // These have the reference, and the first two also the limit, of the platform that does not show the image.
  "image-format-refused": { severity: "warning", how: null, reference: null },
  "image-too-large": { severity: "warning", how: null, reference: null },
  "image-too-small": { severity: "warning", how: SIZE, reference: null },
  "image-shown-small": { severity: "info", how: SIZE, reference: null },
} as const satisfies AdviceTable<string, SocialSubject>;

/** A finding about social tags or the image, without its advice. */
export type SocialDraft = FindingDraft<keyof typeof SOCIAL_ADVICE>;

/** Returns the address of the first og:image, cut to the length that findings show; null if it has none. */
export function imageUrl({ reading }: Pick<SocialSubject, "reading">): string | null {
  return reading.graph.image[0]?.url?.slice(0, MAX_IMAGE_URL) ?? null;
}

function useOwnUrl({ pageUrl }: SocialSubject): string {
  return `Write <meta property="og:url" content="${pageUrl.slice(0, MAX_URL)}">`;
}

/** Returns example content of a property. */
function exampleContent(name: string, pageUrl: string): string {
  switch (name) {
    case "og:url":
      return pageUrl.slice(0, MAX_URL);
    case "og:image":
      return new URL("/preview.png", pageUrl).href.slice(0, MAX_URL);
    case "og:title":
      return "Title of the page";
    case "og:type":
      return "website";
    default:
      return "...";
  }
}
