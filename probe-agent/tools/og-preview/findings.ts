import { adviseOn, finding, type AdviceTable, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import type { Finding } from "#shared/contracts/findings.ts";
import { missingRequired, typeMatches } from "#probe-agent/analysis/page/social-required.ts";
import type { SocialSubject, FetchedImage } from "#probe-agent/tools/og-preview/subject.ts";
import type { XCard } from "#probe-agent/tools/og-preview/x-card.ts";
import { PLATFORMS, type PlatformName } from "#probe-agent/tools/og-preview/platforms.ts";
import type { ImageFault } from "#probe-agent/tools/og-preview/preview.ts";

const MAX_NAMES = 20;

/** Returns findings about social tags and the image that platforms cannot use. */
export function socialFindings(subject: SocialSubject): Finding[] {
  const drafts = [...tagFindings(subject), ...cardFindings(subject.card), ...imageFindings(subject)];
  return adviseOn(SOCIAL_ADVICE, drafts, subject);
}

function tagFindings({ tags, reading, pageUrl }: SocialSubject): SocialDraft[] {
  const { graph, repeated, empty, orphans } = reading;
  const missing = missingRequired(reading);
  const found: SocialDraft[] = [];
  const add = (id: SocialDraft["id"], message: string): void => void found.push(finding(id, null, message));
  if (missing.length > 0) add("og-missing", `Open Graph properties are missing: ${missing.join(", ")}.`);
  if (graph.description === null) {
    const message = "og:description is missing, so platforms choose another text or show none.";
    found.push(finding("og-description-missing", "og:description", message));
  }
  if (empty.length > 0) add("og-empty", `Properties without content count as missing: ${joinNames(empty)}.`);
  if (tags.misplaced.length > 0)
    add(
      "og-in-name-attribute",
      `Open Graph properties are in the attribute name instead of property, which some platforms do not read: ${joinNames(tags.misplaced)}.`,
    );
  if (tags.inBody.length > 0)
    add("og-in-body", `Social tags are in the body, where some platforms do not read them: ${joinNames(tags.inBody)}.`);
  if (repeated.length > 0)
    add("og-repeated", `Properties occur more than once, and only the first counts: ${joinNames(repeated)}.`);
  if (orphans.length > 0)
    add(
      "og-order",
      `Properties come before the image, video or audio that they describe, so platforms ignore them: ${joinNames(orphans)}.`,
    );
  if (tags.truncated) add("too-many-tags", "The page has more social tags than this tool reads.");
  return [...found, ...urlFindings(graph.url, pageUrl)];
}

function urlFindings(address: string | null, pageUrl: string): SocialDraft[] {
  if (address === null) return [];
  if (!URL.canParse(address)) {
    const message = `og:url is not an absolute address: "${address.slice(0, 200)}".`;
    return [finding("og-url-not-absolute", "og:url", message)];
  }
  const { hostname } = new URL(address);
  if (hostname === new URL(pageUrl).hostname) return [];
  const message = `og:url is on another host (${hostname}), so likes and shares count for that address.`;
  return [finding("og-url-other-host", "og:url", message)];
}

function cardFindings({ card, effective }: XCard): SocialDraft[] {
  const where = "twitter:card";
  if (card === null) {
    const shown = effective === null ? "a bare link" : "a small image";
    return [finding("x-card-missing", where, `twitter:card is missing, so X shows ${shown}.`)];
  }
  if (effective !== null) return [];
  const message = `twitter:card has the value "${card.slice(0, 50)}", which X does not support. X shows a bare link.`;
  return [finding("x-card-unknown", where, message)];
}

function joinNames(list: readonly string[]): string {
  return list.slice(0, MAX_NAMES).join(", ");
}

const PLATFORM_NAMES: Readonly<Record<PlatformName, string>> = {
  facebook: "Facebook",
  x: "X",
  linkedin: "LinkedIn",
  slack: "Slack",
};

/**
 * Returns findings about the first og:image: faults of its tags, faults of the fetched file, and the platforms that do
 * not show it or show it small.
 */
function imageFindings({ reading, pageUrl, image: fetched, previews }: SocialSubject): SocialDraft[] {
  const [image] = reading.graph.image;
  if (image === undefined) return [];
  const where = imageUrl({ reading }) ?? "og:image";
  const found: SocialDraft[] = [];
  const add = (id: SocialDraft["id"], message: string): void => void found.push(finding(id, where, message));
  if (reading.relativeImage)
    add("image-relative", "og:image is a relative address, which some platforms do not resolve.");
  if (pageUrl.startsWith("https:") && image.url?.startsWith("http:") === true)
    add("image-over-http", "og:image has an http address, but the page was served over HTTPS.");
  if (image.url !== null && !/^https?:/.test(image.url))
    add("image-not-fetchable", "og:image is not an http or https address, so no platform can fetch it.");
  else if (fetched !== null && fetched.code === null)
    add("image-not-fetched", `og:image could not be fetched: ${fetched.error ?? "no response"}.`);
  else if (fetched !== null && fetched.code !== 200)
    add("image-not-fetched", `og:image responds with HTTP status ${fetched.code}.`);
  if (image.alt === null)
    add("image-alt-missing", "og:image:alt is missing, so people who cannot see the image do not know what it shows.");
  const size = fetched?.width != null && fetched.height !== null ? `${fetched.width} x ${fetched.height}` : null;
  if (image.width === null || image.height === null)
    add(
      "image-size-missing",
      "og:image:width or og:image:height is missing, so Facebook may show the first share without the image.",
    );
  else if (size !== null && (fetched?.width !== image.width || fetched.height !== image.height))
    add("image-size-differs", `og:image is ${size} pixels, but is declared as ${image.width} x ${image.height}.`);
  if (fetched?.code === 200) found.push(...contentFindings(fetched, where));
  return [...found, ...platformFindings(previews, size ?? "of unknown size")];
}

function contentFindings(fetched: FetchedImage, where: string): SocialDraft[] {
  const type = fetched.content_type?.slice(0, 100) ?? "no Content-Type";
  if (fetched.format === null) {
    const message = `og:image is not an image of a known format. It is served as ${type}.`;
    return [finding("image-unknown-format", where, message)];
  }
  if (typeMatches(fetched) !== false) return [];
  const message = `og:image is a ${fetched.format} file, but is served as ${type}.`;
  return [finding("image-wrong-type", where, message)];
}

/** Returns one finding for each rule of a platform that the image breaks. */
function platformFindings(previews: SocialSubject["previews"], size: string): SocialDraft[] {
  return (Object.keys(PLATFORMS) as PlatformName[]).flatMap((name) => {
    const { reference, formats } = PLATFORMS[name];
    return previews[name].imageFaults.map((fault) => {
      const { id, message, ...advice } = describeFault(fault, PLATFORM_NAMES[name], size, [...(formats ?? [])]);
      return { ...finding(id, `preview.${name}`, message), ...advice, reference };
    });
  });
}

function describeFault(fault: ImageFault, platform: string, size: string, formats: readonly string[]) {
  switch (fault.kind) {
    case "format":
      return {
        id: "image-format-refused",
        message: `${platform} does not show images in the format ${fault.format}.`,
        how: `Publish og:image in one of these formats: ${formats.join(", ")}.`,
      } as const;
    case "bytes":
      return {
        id: "image-too-large",
        message: `The image is ${megabytes(fault.bytes)} MB. ${platform} shows images of up to ${megabytes(fault.max)} MB.`,
        how: `Compress the image to less than ${megabytes(fault.max)} MB.`,
      } as const;
    case "too-small":
      return {
        id: "image-too-small",
        message: `The image is ${size} pixels. ${platform} shows no images smaller than ${fault.min.join(" x ")} pixels.`,
      } as const;
    case "shown-small":
      return {
        id: "image-shown-small",
        message: `The image is ${size} pixels. ${platform} shows large previews only from ${fault.min.join(" x ")} pixels.`,
      } as const;
  }
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1).replace(/\.0$/, "");
}

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
const SOCIAL_ADVICE = {
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
type SocialDraft = FindingDraft<keyof typeof SOCIAL_ADVICE>;

/** Returns the address of the first og:image, cut to the length that findings show; null if it has none. */
function imageUrl({ reading }: Pick<SocialSubject, "reading">): string | null {
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
