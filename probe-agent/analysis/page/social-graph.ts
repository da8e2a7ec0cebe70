import { resolveAddress } from "#probe-agent/analysis/http/address.ts";
import { parsePixels } from "#probe-agent/analysis/page/social-pixels.ts";
import type { Property } from "#probe-agent/analysis/page/structured/open-graph.ts";
import { storable } from "#probe-agent/analysis/page/structured/excerpt.ts";

/** An image, video or audio file with its structured properties (ogp.me, "Structured Properties"). */
interface GraphMedia {
  /** Address resolved against the page; null if it is not valid. */
  readonly url: string | null;
  readonly secure_url: string | null;
  readonly type: string | null;
  /** Declared size in pixels; null if it is absent or not a number. */
  readonly width: number | null;
  readonly height: number | null;
  readonly alt: string | null;
}

/** The Open Graph object of a page. */
export interface Graph {
  readonly title: string | null;
  readonly type: string | null;
  readonly url: string | null;
  readonly description: string | null;
  readonly site_name: string | null;
  readonly determiner: string | null;
  readonly locale: string | null;
  readonly locale_alternate: string[];
  readonly image: GraphMedia[];
  readonly video: GraphMedia[];
  readonly audio: GraphMedia[];
  readonly article: null | {
    readonly published_time: string | null;
    readonly modified_time: string | null;
    readonly expiration_time: string | null;
    readonly section: string | null;
    readonly author: string[];
    readonly tag: string[];
  };
  /** All other properties, e.g. book:isbn or fb:app_id. */
  readonly other: { property: string; content: string }[];
}

/** The Open Graph object of a page, and irregularities of its properties. */
export interface GraphReading {
  readonly graph: Graph;
  /** Properties with one value that occur more than once. The first value counts (ogp.me, "Arrays"). */
  readonly repeated: readonly string[];
  /** Whether the page has an image address without scheme and host. */
  readonly relativeImage: boolean;
  /** Properties without content. */
  readonly empty: readonly string[];
  /** Structured properties before any image, video or audio that they could describe. */
  readonly orphans: readonly string[];
}

const SINGLE = ["og:title", "og:type", "og:url", "og:description", "og:site_name", "og:determiner", "og:locale"];
const KINDS = ["image", "video", "audio"] as const;
const MAX_MEDIA = 10;
const MAX_TEXTS = 50;
const MAX_TEXT = 1000;

/**
 * Reads Open Graph properties in document order. Each og:image starts a new image. Structured properties such as
 * og:image:width belong to the last image. The same applies to video and audio. `base` resolves addresses.
 */
export function readGraph(properties: readonly Property[], base: string): GraphReading {
  const all = (name: string): string[] =>
    properties
      .filter(([one]) => one === name)
      .slice(0, MAX_TEXTS)
      .map(([, content]) => storable(content, MAX_TEXT));
  // Templates leave contents empty. Platforms treat an empty property as missing.
  const first = (name: string): string | null => all(name).find((content) => content !== "") ?? null;
  const orphans = new Set<string>();
  const media = KINDS.map((kind) => readMedia(kind, properties, base, orphans));
  const [image = [], video = [], audio = []] = media;
  const known = new Set([...SINGLE, "og:locale:alternate"]);
  const other = properties.filter(
    ([name]) => !known.has(name) && !/^(?:og:(?:image|video|audio)(?:$|:)|article:)/.test(name),
  );
  return {
    graph: {
      title: first("og:title"),
      type: first("og:type"),
      url: first("og:url"),
      description: first("og:description"),
      site_name: first("og:site_name"),
      determiner: first("og:determiner"),
      locale: first("og:locale"),
      locale_alternate: all("og:locale:alternate"),
      image,
      video,
      audio,
      article: properties.some(([name]) => name.startsWith("article:"))
        ? {
            published_time: first("article:published_time"),
            modified_time: first("article:modified_time"),
            expiration_time: first("article:expiration_time"),
            section: first("article:section"),
            author: all("article:author"),
            tag: all("article:tag"),
          }
        : null,
      other: other
        .slice(0, MAX_TEXTS)
        .map(([property, content]) => ({ property, content: storable(content, MAX_TEXT) })),
    },
    relativeImage: properties.some(
      ([name, content]) => name === "og:image" && content !== "" && !URL.canParse(content),
    ),
    repeated: SINGLE.filter((name) => all(name).length > 1),
    empty: [...new Set(properties.filter(([, content]) => content === "").map(([name]) => name))],
    orphans: [...orphans],
  };
}

type Parts = Map<string, string>;

function readMedia(kind: string, properties: readonly Property[], base: string, orphans: Set<string>): GraphMedia[] {
  const root = `og:${kind}`;
  const entries: Parts[] = [];
  for (const [name, content] of properties) {
    const isRoot = name === root;
    if (!isRoot && !name.startsWith(`${root}:`)) continue;
    const part = isRoot ? "url" : name.slice(root.length + 1);
    const last = entries.at(-1);
    // og:image:url has the same meaning as og:image. It starts a new image unless it repeats the previous address.
    const startsNew = isRoot || (part === "url" && last?.get("url") !== content);
    if (startsNew) entries.push(new Map([["url", content]]));
    else if (last === undefined) orphans.add(name);
    else if (!last.has(part)) last.set(part, content);
  }
  return entries
    .filter((parts) => parts.get("url") !== "")
    .slice(0, MAX_MEDIA)
    .map((parts) => toMedia(parts, base));
}

function toMedia(parts: Parts, base: string): GraphMedia {
  const written = parts.get("url") ?? "";
  const text = (name: string): string | null => {
    const value = parts.get(name);
    return value === undefined ? null : storable(value, MAX_TEXT);
  };
  return {
    url: written === "" ? null : resolveAddress(written, base),
    secure_url: text("secure_url"),
    type: text("type"),
    width: parsePixels(parts.get("width") ?? null),
    height: parsePixels(parts.get("height") ?? null),
    alt: text("alt"),
  };
}
