import { resolveAddress } from "#probe-agent/analysis/http/address.ts";
import type { Property } from "#probe-agent/analysis/page/structured/open-graph.ts";
import { storable } from "#probe-agent/analysis/page/structured/excerpt.ts";

/** An image, video or sound with its structured properties (ogp.me, "Structured Properties"). */
interface GraphMedia {
  /** Resolved against the page, null where it is no address. */
  readonly url: string | null;
  readonly secure_url: string | null;
  readonly type: string | null;
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
  /** Everything else, e.g. book:isbn or fb:app_id. */
  readonly other: { property: string; content: string }[];
}

/** A graph with what is odd about it. */
export interface GraphReading {
  readonly graph: Graph;
  /** Single properties given more than once; the first counts (ogp.me, "Arrays"). */
  readonly repeated: readonly string[];
  /** The first image's address stands in the page without its scheme and host. */
  readonly relativeImage: boolean;
  /** Properties without content. */
  readonly empty: readonly string[];
  /** Structured properties with nothing before them that they could belong to. */
  readonly orphans: readonly string[];
}

const SINGLE = ["og:title", "og:type", "og:url", "og:description", "og:site_name", "og:determiner", "og:locale"];
const KINDS = ["image", "video", "audio"] as const;
const MAX_MEDIA = 10;
const MAX_TEXTS = 50;
const MAX_TEXT = 1000;

/** Reads properties in their order: each og:image begins an image, og:image:width and the like belong to the last one. */
export function readGraph(properties: readonly Property[], base: string): GraphReading {
  const all = (name: string): string[] =>
    properties
      .filter(([one]) => one === name)
      .slice(0, MAX_TEXTS)
      .map(([, content]) => storable(content, MAX_TEXT));
  // Templates leave contents empty: platforms take that for a property that is not there.
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
    // og:image:url means the same as og:image: it begins a new one unless it repeats the address just given.
    const begins = isRoot || (part === "url" && last?.get("url") !== content);
    if (begins) entries.push(new Map([["url", content]]));
    else if (last === undefined) orphans.add(name);
    else if (!last.has(part)) last.set(part, content);
  }
  return entries
    .filter((parts) => parts.get("url") !== "")
    .slice(0, MAX_MEDIA)
    .map((parts) => describe(parts, base));
}

function describe(parts: Parts, base: string): GraphMedia {
  const written = parts.get("url") ?? "";
  const text = (name: string): string | null => {
    const value = parts.get(name);
    return value === undefined ? null : storable(value, MAX_TEXT);
  };
  return {
    url: written === "" ? null : resolveAddress(written, base),
    secure_url: text("secure_url"),
    type: text("type"),
    width: pixels(parts.get("width")),
    height: pixels(parts.get("height")),
    alt: text("alt"),
  };
}

function pixels(written: string | undefined): number | null {
  const match = /^(\d{1,6})(?:px)?$/i.exec(written ?? "");
  return match === null ? null : Number(match[1]);
}
