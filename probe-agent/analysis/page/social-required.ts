import { mimeEssence } from "#probe-agent/analysis/http/header-list.ts";
import { IMAGE_TYPES, type ImageFormat } from "#probe-agent/analysis/page/image-size.ts";
import type { GraphReading } from "#probe-agent/analysis/page/social-graph.ts";

/** Open Graph properties that every page must have (ogp.me, "Basic Metadata"). */
const REQUIRED = ["title", "type", "image", "url"] as const;

/** Facts about a fetched image. null if a fact is unknown. Sizes are in pixels. */
export interface ImageFacts {
  readonly content_type: string | null;
  readonly format: ImageFormat | null;
  readonly width: number | null;
  readonly height: number | null;
}

/** Returns the required Open Graph properties that a page lacks. */
export function missingRequired({ graph }: GraphReading): string[] {
  return REQUIRED.filter((name) => {
    const value = graph[name];
    return Array.isArray(value) ? value.length === 0 : value === null;
  }).map((name) => `og:${name}`);
}

/** Reports whether the Content-Type of an image matches its format. Returns null without a Content-Type. */
export function typeMatches({
  content_type: type,
  format,
}: Pick<ImageFacts, "content_type" | "format">): boolean | null {
  if (type === null) return null;
  return format !== null && IMAGE_TYPES[format].includes(mimeEssence(type));
}
