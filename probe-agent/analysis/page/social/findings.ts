import { adviseOn, finding } from "#probe-agent/analysis/text/findings.ts";
import type { Finding } from "#shared/contracts/findings.ts";
import { SOCIAL_ADVICE, type SocialDraft, imageUrl } from "#probe-agent/analysis/page/social/advice.ts";
import { missingRequired, typeMatches } from "#probe-agent/analysis/page/social/required.ts";
import type { SocialSubject, FetchedImage } from "#probe-agent/analysis/page/social/subject.ts";
import type { XCard } from "#probe-agent/analysis/page/social/x-card.ts";
import { PLATFORMS, type PlatformName } from "#probe-agent/analysis/page/social/platforms.ts";
import type { ImageFault } from "#probe-agent/analysis/page/social/preview.ts";

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
