import type { ImageFormat } from "#probe-agent/analysis/page/image-size.ts";
import type { Fallback } from "#probe-agent/analysis/page/social/fallback.ts";
import type { Graph } from "#probe-agent/analysis/page/social/graph.ts";
import { PLATFORMS, type Platform, type PlatformName } from "#probe-agent/analysis/page/social/platforms.ts";
import type { XCard } from "#probe-agent/analysis/page/social/x-card.ts";

/** A link as a platform shows it. */
interface Preview {
  readonly title: string | null;
  readonly description: string | null;
  readonly image: string | null;
  /** Host shown with it. */
  readonly domain: string;
  /** Title or description are longer than the platform documents to show. */
  readonly truncated: boolean;
  /** How the image is shown by the platform's size rules; "unknown" where its size is not known. */
  readonly layout: "large" | "small" | "no_image" | "no_card" | "unknown";
  readonly reference: string;
}

/** A rule of a platform that an image breaks. */
export type ImageFault =
  | { readonly kind: "format"; readonly format: string }
  | { readonly kind: "bytes"; readonly bytes: number; readonly most: number }
  | { readonly kind: "too-small"; readonly least: readonly [number, number] }
  /** Large enough to be shown, but as a small picture. */
  | { readonly kind: "shown-small"; readonly least: readonly [number, number] };

/** A preview with the rules that its image breaks. */
export interface JudgedPreview {
  readonly preview: Preview;
  readonly imageFaults: readonly ImageFault[];
}

/** The image that was looked at. */
interface CheckedImage {
  readonly url: string;
  readonly width: number | null;
  readonly height: number | null;
  readonly bytes: number | null;
  readonly format: ImageFormat | null;
  /** It could be fetched. */
  readonly reachable: boolean;
}

/** All that a preview is made from. */
interface PreviewSource {
  readonly pageUrl: string;
  readonly graph: Graph;
  readonly card: XCard;
  readonly fallback: Fallback;
  readonly checked: CheckedImage | null;
}

/** The preview of each platform, with what is wrong with its image. */
export function previews(source: PreviewSource): Record<PlatformName, JudgedPreview> {
  return {
    facebook: previewOn("facebook", source),
    x: previewOn("x", source),
    linkedin: previewOn("linkedin", source),
    slack: previewOn("slack", source),
  };
}

function previewOn(name: PlatformName, source: PreviewSource): JudgedPreview {
  const { graph, card, fallback, checked } = source;
  const platform = PLATFORMS[name];
  const domain = domainOf(graph.url, source.pageUrl);
  const { reference } = platform;
  const none = { title: null, description: null, image: null, domain, truncated: false, reference };
  // X shows a bare link where there is no card, and makes none from the page's own title.
  if (name === "x" && card.effective === null) {
    return { preview: { ...none, layout: "no_card" }, imageFaults: [] };
  }
  const own = platform.cards === "first" ? card : { title: null, description: null, image: null };
  const last = name === "x" ? { title: null, description: null, image: null } : fallback;
  const title = cutTo(own.title ?? graph.title ?? last.title, platform.title);
  const description = cutTo(own.description ?? graph.description ?? last.description, platform.description);
  const images = [own.image, ...graph.image.map(({ url }) => url), last.image];
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
  const below = (least: readonly [number, number] | null): boolean =>
    least !== null && width !== null && height !== null && (width < least[0] || height < least[1]);
  const refused: ImageFault[] = [
    ...(formats !== null && format !== null && !formats.has(format) ? [{ kind: "format" as const, format }] : []),
    ...(maxBytes !== null && bytes !== null && bytes > maxBytes
      ? [{ kind: "bytes" as const, bytes, most: maxBytes }]
      : []),
    ...(smallest !== null && below(smallest) ? [{ kind: "too-small" as const, least: smallest }] : []),
  ];
  if (refused.length > 0) return { layout: "no_image", faults: refused };
  if (width === null || height === null) return { layout: "unknown", faults: [] };
  if (large === null) return { layout: "unknown", faults: [] };
  if (!below(large)) return { layout: "large", faults: [] };
  return { layout: "small", faults: [{ kind: "shown-small", least: large }] };
}

/** By code points, so that no character is torn. */
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

function domainOf(address: string | null, pageUrl: string): string {
  const url = address !== null && URL.canParse(address) ? new URL(address) : new URL(pageUrl);
  return (url.hostname === "" ? new URL(pageUrl).hostname : url.hostname).replace(/^www\./, "");
}
