import { IMAGE_TYPES, type ImageFormat } from "#probe-agent/analysis/page/image-size.ts";
import type { GraphReading } from "#probe-agent/analysis/page/social/graph.ts";
import type { XCard } from "#probe-agent/analysis/page/social/x-card.ts";
import type { SocialTags } from "#probe-agent/analysis/page/structured/open-graph.ts";

/** The properties every page should have (ogp.me, "Basic Metadata"). */
const REQUIRED = ["title", "type", "image", "url"] as const;

/** What an image turned out to be. */
export interface SeenImage {
  readonly content_type: string | null;
  readonly format: ImageFormat | null;
  readonly width: number | null;
  readonly height: number | null;
}

/** Required Open Graph properties a page lacks. */
export function missingRequired({ graph }: GraphReading): string[] {
  return REQUIRED.filter((name) => {
    const value = graph[name];
    return Array.isArray(value) ? value.length === 0 : value === null;
  }).map((name) => `og:${name}`);
}

/** What platforms will make less of, one sentence each. */
export function socialWarnings(
  tags: SocialTags,
  reading: GraphReading,
  card: XCard,
  pageUrl: string,
  seen: SeenImage | null,
): string[] {
  const { graph, repeated, empty, orphans } = reading;
  const names = (list: readonly string[]): string => list.slice(0, 20).join(", ");
  const [image] = graph.image;
  return [
    ...sentence(
      tags.misplaced.length > 0,
      `In name instead of property, which not everyone reads: ${names(tags.misplaced)}.`,
    ),
    ...sentence(tags.inBody.length > 0, `In the body, where not everyone looks: ${names(tags.inBody)}.`),
    ...sentence(repeated.length > 0, `Given more than once, the first counts: ${names(repeated)}.`),
    ...sentence(empty.length > 0, `Without content, as if they were missing: ${names(empty)}.`),
    ...sentence(orphans.length > 0, `Before the image, video or audio they belong to, so ignored: ${names(orphans)}.`),
    ...sentence(tags.truncated, "There are more social tags than are looked at."),
    ...sentence(graph.description === null, "og:description is missing."),
    ...sentence(reading.relativeImage, "og:image is a relative address, which not everyone resolves."),
    ...sentence(
      pageUrl.startsWith("https:") && image?.url?.startsWith("http:") === true,
      "og:image is served over HTTP to a page over HTTPS.",
    ),
    ...sentence(
      image !== undefined && image.url !== null && !/^https?:/.test(image.url),
      "og:image is no http or https address, so nobody can fetch it.",
    ),
    ...sentence(image !== undefined && image.alt === null, "og:image:alt is missing."),
    ...sentence(
      image !== undefined && (image.width === null || image.height === null),
      "og:image:width and og:image:height are missing: the first share may come without the image.",
    ),
    ...urlWarnings(graph.url, pageUrl),
    ...sentence(
      card.card !== null && card.effective === null,
      `twitter:card has a value X does not know: ${card.card?.slice(0, 50)}.`,
    ),
    ...sentence(card.card === null, "twitter:card is missing, so X shows no large image."),
    ...(seen === null ? [] : imageWarnings(seen, image?.width ?? null, image?.height ?? null)),
  ];
}

/** A file that lies about its type: what it is called against what it begins with. */
export function typeMatches({
  content_type: type,
  format,
}: Pick<SeenImage, "content_type" | "format">): boolean | null {
  if (type === null) return null;
  const essence = (type.split(";", 1)[0] ?? "").trim().toLowerCase();
  return format !== null && IMAGE_TYPES[format].includes(essence);
}

function imageWarnings(seen: SeenImage, width: number | null, height: number | null): string[] {
  const known = seen.width !== null && seen.height !== null && width !== null && height !== null;
  return [
    ...sentence(seen.format === null, "og:image is no image of a known format."),
    ...sentence(
      seen.format !== null && typeMatches(seen) === false,
      `og:image is ${seen.format} but is served as ${seen.content_type?.slice(0, 100)}.`,
    ),
    ...sentence(
      known && (seen.width !== width || seen.height !== height),
      `og:image is ${seen.width} x ${seen.height}, not ${width} x ${height} as declared.`,
    ),
  ];
}

function urlWarnings(address: string | null, pageUrl: string): string[] {
  if (address === null) return [];
  if (!URL.canParse(address)) return ["og:url is no absolute address."];
  const elsewhere = new URL(address).hostname !== new URL(pageUrl).hostname;
  return sentence(elsewhere, "og:url names another host, so likes and shares count for that one.");
}

function sentence(applies: boolean, text: string): string[] {
  return applies ? [text] : [];
}
