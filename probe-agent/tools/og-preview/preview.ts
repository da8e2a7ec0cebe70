import type { ImageFormat } from "#probe-agent/analysis/page/image-size.ts";
import { type Graph, readGraph } from "#probe-agent/analysis/page/social-graph.ts";
import { PLATFORMS, type Platform, type PlatformName } from "#probe-agent/tools/og-preview/platforms.ts";
import { type XCard, readXCard } from "#probe-agent/tools/og-preview/x-card.ts";
import { documentBase, resolveAddress } from "#probe-agent/analysis/http/address.ts";
import { readHtml, definePageAnalysis, type Page } from "#probe-agent/analysis/html/read-page.ts";
import { readSocialTags } from "#probe-agent/analysis/page/structured/open-graph.ts";
import { walkElements } from "#probe-agent/analysis/html/document.ts";
import { attribute, INERT_ELEMENTS, metaContent } from "#probe-agent/analysis/html/page.ts";
import { parsePixels } from "#probe-agent/analysis/page/social-pixels.ts";
import { faviconOf } from "#probe-agent/analysis/page/social-icons.ts";
import { storable } from "#probe-agent/analysis/page/structured/excerpt.ts";

/** Preview of a link on a platform. */
interface Preview {
  readonly title: string | null;
  readonly description: string | null;
  readonly image: string | null;
  /** Host shown with the preview. */
  readonly domain: string;
  /** Whether the title or the description exceeds the platform's documented limit. */
  readonly truncated: boolean;
  /** How the platform shows the image by its size rules; "unknown" if the size or the rule is unknown. */
  readonly layout: "large" | "small" | "no_image" | "no_card" | "unknown";
  readonly reference: string;
}

/** A rule of a platform that an image breaks. */
export type ImageFault =
  | { readonly kind: "format"; readonly format: string }
  | { readonly kind: "bytes"; readonly bytes: number; readonly max: number }
  | { readonly kind: "too-small"; readonly min: readonly [width: number, height: number] }
  /** Large enough to be shown, but not large enough for a large preview. */
  | { readonly kind: "shown-small"; readonly min: readonly [width: number, height: number] };

/** A preview and the rules that its image breaks. */
export interface PreviewReport {
  readonly preview: Preview;
  readonly imageFaults: readonly ImageFault[];
}

/** The image that was fetched. null for facts that are unknown. */
interface CheckedImage {
  readonly url: string;
  readonly width: number | null;
  readonly height: number | null;
  readonly bytes: number | null;
  readonly format: ImageFormat | null;
  /** Whether the image was fetched with status 200. */
  readonly reachable: boolean;
}

/** Input of a preview. `checked` is null if no image was fetched. */
interface PreviewSource {
  readonly pageUrl: string;
  readonly graph: Graph;
  readonly card: XCard;
  readonly fallback: Fallback;
  readonly checked: CheckedImage | null;
}

/** Contents of a page that previews use if it has no social tags. */
interface Fallback {
  readonly title: string | null;
  readonly description: string | null;
  readonly image: string | null;
  readonly favicon: string | null;
}

/** Minimum declared width and height of a big image, in pixels. Facebook ignores smaller images. */
const BIG = 200;
const MAX_TEXT = 1000;

/** Makes the preview of each platform, with the rules that the image breaks. */
export function makePreviews(source: PreviewSource): Record<PlatformName, PreviewReport> {
  return {
    facebook: previewOn("facebook", source),
    x: previewOn("x", source),
    linkedin: previewOn("linkedin", source),
    slack: previewOn("slack", source),
  };
}

function previewOn(name: PlatformName, source: PreviewSource): PreviewReport {
  const { graph, card, fallback, checked } = source;
  const platform = PLATFORMS[name];
  const domain = domainOf(graph.url, source.pageUrl);
  const { reference } = platform;
  const none = { title: null, description: null, image: null, domain, truncated: false, reference };
  // Without a card X shows a bare link. It does not use the title element or the description meta element.
  if (name === "x" && card.effective === null) {
    return { preview: { ...none, layout: "no_card" }, imageFaults: [] };
  }
  const cardTexts = platform.cards === "first" ? card : { title: null, description: null, image: null };
  const last = name === "x" ? { title: null, description: null, image: null } : fallback;
  const title = cutTo(cardTexts.title ?? graph.title ?? last.title, platform.title);
  const description = cutTo(cardTexts.description ?? graph.description ?? last.description, platform.description);
  const images = [cardTexts.image, ...graph.image.map(({ url }) => url), last.image];
  const image = images.find((url) => url !== null && /^https?:/.test(url)) ?? null;
  const known = checked !== null && checked.url === image ? checked : null;
  const { layout, faults } = layoutOf(platform, image, known);
  const preview: Preview = {
    title: title.text,
    description: description.text,
    image,
    domain,
    truncated: title.cut || description.cut,
    layout: name === "x" && layout === "large" && card.effective !== "summary_large_image" ? "small" : layout,
    reference,
  };
  return { preview, imageFaults: faults };
}

function layoutOf(
  { smallest, large, maxBytes, formats }: Platform,
  image: string | null,
  known: CheckedImage | null,
): { layout: Preview["layout"]; faults: ImageFault[] } {
  if (image === null) return { layout: "no_image", faults: [] };
  if (known === null) return { layout: "unknown", faults: [] };
  if (!known.reachable) return { layout: "no_image", faults: [] };
  const { width, height, bytes, format } = known;
  const below = (min: readonly [number, number] | null): boolean =>
    min !== null && width !== null && height !== null && (width < min[0] || height < min[1]);
  const refused: ImageFault[] = [
    ...(formats !== null && format !== null && !formats.has(format) ? [{ kind: "format" as const, format }] : []),
    ...(maxBytes !== null && bytes !== null && bytes > maxBytes
      ? [{ kind: "bytes" as const, bytes, max: maxBytes }]
      : []),
    ...(smallest !== null && below(smallest) ? [{ kind: "too-small" as const, min: smallest }] : []),
  ];
  if (refused.length > 0) return { layout: "no_image", faults: refused };
  if (width === null || height === null) return { layout: "unknown", faults: [] };
  if (large === null) return { layout: "unknown", faults: [] };
  if (!below(large)) return { layout: "large", faults: [] };
  return { layout: "small", faults: [{ kind: "shown-small", min: large }] };
}

/** Cuts a text to a number of code points, so that no surrogate pair is split. */
function cutTo(text: string | null, limit: number | null): { text: string | null; cut: boolean } {
  if (text === null || limit === null) return { text, cut: false };
  const characters = Array.from(text);
  if (characters.length <= limit) return { text, cut: false };
  return {
    text: `${characters
      .slice(0, limit - 1)
      .join("")
      .trimEnd()}…`,
    cut: true,
  };
}

/** Returns the host of og:url, otherwise of the page, without a leading "www.". */
function domainOf(address: string | null, pageUrl: string): string {
  const url = address !== null && URL.canParse(address) ? new URL(address) : new URL(pageUrl);
  return (url.hostname === "" ? new URL(pageUrl).hostname : url.hostname).replace(/^www\./, "");
}

/** Reads all parts of a page that previews use. `url` is the address of the page. */
export function readSocial(page: Page, url: string) {
  const base = documentBase(page.facts.baseHref, url);
  const tags = readSocialTags(page);
  const reading = readGraph(tags.properties, base);
  return { tags, reading, card: readXCard(tags.twitter, reading.graph, base), fallback: readFallback(page, base) };
}

/** The preview that social networks make of a page. */
export const socialAnalysis = definePageAnalysis("og-preview", ({ page, url }) =>
  readSocial(page ?? readHtml(""), url),
);

/** Reads the title, the description, the first big image and the icon of a page. `base` resolves addresses. */
function readFallback(page: Page, base: string): Fallback {
  const { facts } = page;
  return {
    title: nonEmptyText(facts.title),
    description: nonEmptyText(metaContent(facts, "description")),
    image: firstImage(page, base),
    favicon: faviconOf(facts, base),
  };
}

/** Returns the first image with a big declared size, otherwise the first image without a declared size, or null. */
function firstImage({ document }: Page, base: string): string | null {
  let unsized: string | null = null;
  for (const element of walkElements(document.root, INERT_ELEMENTS)) {
    if (element.name !== "img") continue;
    const source = attribute(element, "src") ?? "";
    const url = source === "" ? null : resolveAddress(source, base);
    if (url === null || !/^https?:/.test(url)) continue;
    const [width, height] = [parsePixels(attribute(element, "width")), parsePixels(attribute(element, "height"))];
    if (width !== null && height !== null && width >= BIG && height >= BIG) return url;
    if (width === null && height === null) unsized ??= url;
  }
  return unsized;
}

function nonEmptyText(text: string | null): string | null {
  return text === null || text === "" ? null : storable(text, MAX_TEXT);
}
