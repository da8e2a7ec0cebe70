import type { Finding, Severity } from "#shared/findings.ts";
import { imageFindings, OPEN_GRAPH } from "#probe-agent/analysis/page/social/image-findings.ts";
import { missingRequired } from "#probe-agent/analysis/page/social/required.ts";
import type { SocialSubject } from "#probe-agent/analysis/page/social/subject.ts";
import type { XCard } from "#probe-agent/analysis/page/social/x-card.ts";

const X_CARDS = "https://developer.x.com/en/docs/x-for-websites/cards/overview/markup";
const MAX_NAMES = 20;
/** Example contents of properties, for advice. */
const EXAMPLES: Readonly<Record<string, string>> = { "og:title": "Title of the page", "og:type": "website" };

/**
 * Returns findings about social tags and the image that platforms cannot use. None is critical, because a link without
 * a preview still leads to the page.
 */
export function socialFindings(subject: SocialSubject): Finding[] {
  return [...tagFindings(subject), ...cardFindings(subject.card), ...imageFindings(subject)];
}

function tagFindings({ tags, reading, pageUrl }: SocialSubject): Finding[] {
  const { graph, repeated, empty, orphans } = reading;
  const missing = missingRequired(reading);
  const found = (id: string, severity: Severity, message: string, how: string, where: string | null = null) => [
    { id, severity, message, how, reference: OPEN_GRAPH, where },
  ];
  return [
    ...(missing.length > 0
      ? found(
          "og-missing",
          "warning",
          `Open Graph properties are missing: ${missing.join(", ")}.`,
          `Add to the head: ${missing.map((name) => exampleMeta(name, pageUrl)).join(" ")}`,
        )
      : []),
    ...(graph.description === null
      ? found(
          "og-description-missing",
          "info",
          "og:description is missing, so platforms choose another text or show none.",
          'Add to the head: <meta property="og:description" content="One or two sentences about the page">',
          "og:description",
        )
      : []),
    ...(empty.length > 0
      ? found(
          "og-empty",
          "warning",
          `Properties without content count as missing: ${joinNames(empty)}.`,
          "Fill in the content attribute, or remove the elements.",
        )
      : []),
    ...(tags.misplaced.length > 0
      ? found(
          "og-in-name-attribute",
          "info",
          `Open Graph properties are in the attribute name instead of property, which some platforms do not read: ${joinNames(tags.misplaced)}.`,
          `Write property="${tags.misplaced[0]}" instead of name="${tags.misplaced[0]}".`,
        )
      : []),
    ...(tags.inBody.length > 0
      ? found(
          "og-in-body",
          "warning",
          `Social tags are in the body, where some platforms do not read them: ${joinNames(tags.inBody)}.`,
          "Move these meta elements into the head, before any element that ends the head.",
        )
      : []),
    ...(repeated.length > 0
      ? found(
          "og-repeated",
          "info",
          `Properties occur more than once, and only the first counts: ${joinNames(repeated)}.`,
          "Keep one element for each of them.",
        )
      : []),
    ...(orphans.length > 0
      ? found(
          "og-order",
          "warning",
          `Properties come before the image, video or audio that they describe, so platforms ignore them: ${joinNames(orphans)}.`,
          "Write og:image (og:video, og:audio) first, then its width, height, type and alt.",
        )
      : []),
    ...(tags.truncated
      ? found(
          "too-many-tags",
          "info",
          "The page has more social tags than this tool reads.",
          "Keep one set of Open Graph and X card tags.",
        )
      : []),
    ...urlFindings(graph.url, pageUrl).flatMap(({ id, message }) =>
      found(id, "warning", message, `Write <meta property="og:url" content="${pageUrl.slice(0, 200)}">`, "og:url"),
    ),
  ];
}

function urlFindings(address: string | null, pageUrl: string): { id: string; message: string }[] {
  if (address === null) return [];
  if (!URL.canParse(address)) {
    return [{ id: "og-url-not-absolute", message: `og:url is not an absolute address: "${address.slice(0, 200)}".` }];
  }
  const { hostname } = new URL(address);
  if (hostname === new URL(pageUrl).hostname) return [];
  const message = `og:url is on another host (${hostname}), so likes and shares count for that address.`;
  return [{ id: "og-url-other-host", message }];
}

function cardFindings({ card, effective }: XCard): Finding[] {
  const how = 'Add to the head: <meta name="twitter:card" content="summary_large_image">';
  const where = "twitter:card";
  if (card === null) {
    const message =
      effective === null
        ? "twitter:card is missing, so X shows a bare link."
        : "twitter:card is missing, so X shows a small image.";
    return [{ id: "x-card-missing", severity: "info", message, how, reference: X_CARDS, where }];
  }
  if (effective !== null) return [];
  const message = `twitter:card has the value "${card.slice(0, 50)}", which X does not support. X shows a bare link.`;
  return [{ id: "x-card-unknown", severity: "warning", message, how, reference: X_CARDS, where }];
}

/** Returns a meta element with example content for a property. */
function exampleMeta(name: string, pageUrl: string): string {
  const content =
    name === "og:url"
      ? pageUrl.slice(0, 200)
      : name === "og:image"
        ? new URL("/preview.png", pageUrl).href.slice(0, 200)
        : (EXAMPLES[name] ?? "...");
  return `<meta property="${name}" content="${content}">`;
}

function joinNames(list: readonly string[]): string {
  return list.slice(0, MAX_NAMES).join(", ");
}
