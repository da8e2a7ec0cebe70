import { adviseOn, finding } from "#probe-agent/analysis/text/findings.ts";
import type { Finding } from "#shared/contracts/findings.ts";
import { SOCIAL_ADVICE, type SocialDraft } from "#probe-agent/analysis/page/social/advice.ts";
import { imageFindings } from "#probe-agent/analysis/page/social/image-findings.ts";
import { missingRequired } from "#probe-agent/analysis/page/social/required.ts";
import type { SocialSubject } from "#probe-agent/analysis/page/social/subject.ts";
import type { XCard } from "#probe-agent/analysis/page/social/x-card.ts";

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
