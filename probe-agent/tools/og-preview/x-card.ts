import { resolveAddress } from "#probe-agent/analysis/http/address.ts";
import type { Graph } from "#probe-agent/analysis/page/social-graph.ts";
import { storable } from "#probe-agent/analysis/page/structured/excerpt.ts";
import type { Property } from "#probe-agent/analysis/page/structured/open-graph.ts";

const CARDS = ["summary", "summary_large_image", "app", "player"] as const;

/** The X card of a page. */
export interface XCard {
  /** Unchanged content of twitter:card. */
  readonly card: string | null;
  /**
   * The card that X shows. Without twitter:card it is a summary if og:type, og:title and og:description are present.
   * null for a bare link.
   */
  readonly effective: (typeof CARDS)[number] | null;
  readonly site: string | null;
  readonly creator: string | null;
  readonly title: string | null;
  readonly description: string | null;
  readonly image: string | null;
  readonly image_alt: string | null;
  /** All other properties, e.g. twitter:player:width. */
  readonly other: { property: string; content: string }[];
}

const MAX_TEXT = 1000;
const MAX_OTHER = 30;

/** Reads the X card from twitter:* properties. twitter:image:src is the old name of twitter:image. */
export function readXCard(properties: readonly Property[], graph: Graph, base: string): XCard {
  const first = (...names: string[]): string | null => {
    const content = properties.find(([name, value]) => names.includes(name) && value !== "")?.[1];
    return content === undefined ? null : storable(content, MAX_TEXT);
  };
  const card = first("twitter:card");
  const image = first("twitter:image", "twitter:image:src");
  const implied = graph.type !== null && graph.title !== null && graph.description !== null;
  const known = CARDS.find((name) => name === card?.toLowerCase());
  const knownNames = new Set(["card", "site", "creator", "title", "description", "image", "image:src", "image:alt"]);
  return {
    card,
    effective: known ?? (card === null && implied ? "summary" : null),
    site: first("twitter:site"),
    creator: first("twitter:creator"),
    title: first("twitter:title"),
    description: first("twitter:description"),
    image: image === null ? null : resolveAddress(image, base),
    image_alt: first("twitter:image:alt"),
    other: properties
      .filter(([name]) => !knownNames.has(name.slice("twitter:".length)))
      .slice(0, MAX_OTHER)
      .map(([property, content]) => ({ property, content: storable(content, MAX_TEXT) })),
  };
}
