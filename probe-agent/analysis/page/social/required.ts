import { IMAGE_TYPES, type ImageFormat } from "#probe-agent/analysis/page/image-size.ts";
import type { GraphReading } from "#probe-agent/analysis/page/social/graph.ts";

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

/** A file that lies about its type: what it is called against what it begins with. */
export function typeMatches({
  content_type: type,
  format,
}: Pick<SeenImage, "content_type" | "format">): boolean | null {
  if (type === null) return null;
  const essence = (type.split(";", 1)[0] ?? "").trim().toLowerCase();
  return format !== null && IMAGE_TYPES[format].includes(essence);
}
