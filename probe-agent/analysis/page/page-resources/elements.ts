import type { Element } from "domhandler";
import { isTag } from "domhandler";
import { rawTextOf } from "#probe-agent/analysis/html/document.ts";
import { attribute } from "#probe-agent/analysis/html/page.ts";
import { matchesMedia, type Screen } from "#probe-agent/analysis/page/page-resources/media-query.ts";
import type { FoundReference, ResourceType } from "#probe-agent/analysis/page/page-resources/resource.ts";
import { chooseCandidate, parseSrcset } from "#probe-agent/analysis/page/page-resources/srcset.ts";
import { styleReferences } from "#probe-agent/analysis/page/page-resources/style-references.ts";

/** What an element's references depend on. */
interface Place {
  /** Before anything that belongs to the body. */
  readonly inHead: boolean;
  readonly screen: Screen;
}

const MAX_STYLE = 500_000;
/** JavaScript MIME types (WHATWG MIME Sniffing) as far as anybody uses them; the empty one is JavaScript too. */
const CLASSIC_SCRIPT = /^(?:|(?:text|application)\/(?:x-)?(?:java|ecma)script)$/;
/** Destinations of preload (fetch standard) by our kinds. */
const DESTINATIONS: Readonly<Record<string, ResourceType>> = {
  script: "script",
  worker: "script",
  style: "stylesheet",
  image: "image",
  font: "font",
  audio: "media",
  video: "media",
  track: "media",
  document: "frame",
};

/** What an element makes a browser fetch by itself when the page is opened. */
export function referencesOf(element: Element, place: Place): FoundReference[] {
  const read = READERS[element.name];
  const found = read === undefined ? [] : read(element, place);
  const style = attribute(element, "style");
  return style === null || !/url\(/i.test(style) ? found : [...found, ...ofStyle(style, place, false)];
}

type Read = (element: Element, place: Place) => FoundReference[];

const READERS: Readonly<Record<string, Read | undefined>> = Object.assign(Object.create(null) as object, {
  script: ofScript,
  link: ofLink,
  style: (element: Element, place: Place) =>
    matchesMedia(attribute(element, "media") ?? "", place.screen)
      ? ofStyle(rawTextOf(element, MAX_STYLE), place, true)
      : [],
  img: ofImage,
  input: (element: Element) => (is(element, "type", "image") ? plain(element, "src", "image") : []),
  video: (element: Element, place: Place) => [...plain(element, "poster", "image"), ...ofMedia(element, place)],
  audio: ofMedia,
  iframe: (element: Element) =>
    has(element, "srcdoc") ? [] : plain(element, "src", "frame", is(element, "loading", "lazy")),
  frame: (element: Element) => plain(element, "src", "frame"),
  embed: (element: Element) => plain(element, "src", "other"),
  object: (element: Element) => plain(element, "data", "other"),
  image: (element: Element) => [...plain(element, "href", "image"), ...plain(element, "xlink:href", "image")],
  feimage: (element: Element) => plain(element, "href", "image"),
  use: (element: Element) => [...plain(element, "href", "image"), ...plain(element, "xlink:href", "image")],
  body: (element: Element) => plain(element, "background", "image"),
} satisfies Record<string, Read>);

/** HTML 4.12.1: classic scripts without async and defer stop the parser; modules wait; nomodule is for old browsers. */
function ofScript(element: Element, { inHead }: Place): FoundReference[] {
  const type = (attribute(element, "type") ?? "").toLowerCase();
  const module = type === "module";
  if ((!module && !CLASSIC_SCRIPT.test(type)) || (!module && has(element, "nomodule"))) return [];
  const waits = module || has(element, "async") || has(element, "defer");
  const blocking = words(element, "blocking").includes("render") || (inHead && !waits);
  return plain(element, "src", "script").map((reference) => ({ ...reference, blocking }));
}

function ofLink(element: Element, { screen }: Place): FoundReference[] {
  const rel = words(element, "rel");
  const media = matchesMedia(attribute(element, "media") ?? "", screen);
  if (rel.includes("stylesheet")) {
    const type = (attribute(element, "type") ?? "").toLowerCase();
    if (rel.includes("alternate") || has(element, "disabled") || (type !== "" && type !== "text/css")) return [];
    return plain(element, "href", "stylesheet").map((reference) => ({ ...reference, blocking: media }));
  }
  if (rel.includes("modulepreload")) return plain(element, "href", "script");
  if (rel.includes("preload")) return media ? ofPreload(element, screen) : [];
  if (rel.includes("icon") || rel.includes("manifest")) {
    return plain(element, "href", rel.includes("icon") ? "image" : "other");
  }
  return [];
}

function ofPreload(element: Element, screen: Screen): FoundReference[] {
  const type = destinationType(attribute(element, "as"));
  const set = attribute(element, "imagesrcset");
  const chosen = set === null ? null : chooseCandidate(parseSrcset(set, attribute(element, "imagesizes"), screen));
  return chosen === null ? plain(element, "href", type) : [{ address: chosen, type }];
}

/** Our kind of a preload's destination. */
export function destinationType(as: string | null): ResourceType {
  const word = (as ?? "").toLowerCase();
  return Object.hasOwn(DESTINATIONS, word) ? (DESTINATIONS[word] ?? "other") : "other";
}

/** Of a picture the first source that fits, else the img element itself: its srcset, then its src. */
function ofImage(element: Element, { screen }: Place): FoundReference[] {
  const lazy = is(element, "loading", "lazy");
  const address = sourceOf(element, screen) ?? candidateOf(element, screen) ?? attribute(element, "src");
  return address === null || address === "" ? [] : [{ address, type: "image", lazy }];
}

function sourceOf(image: Element, screen: Screen): string | null {
  const { parent } = image;
  if (parent === null || !isTag(parent) || parent.name !== "picture") return null;
  for (const child of parent.children.slice(0, 100)) {
    if (child === image) return null;
    if (!isTag(child) || child.name !== "source") continue;
    const type = attribute(child, "type");
    const fits = type === null || type === "" || SHOWN_IMAGES.test(type);
    const chosen = fits && matchesMedia(attribute(child, "media") ?? "", screen) ? candidateOf(child, screen) : null;
    if (chosen !== null) return chosen;
  }
  return null;
}

const SHOWN_IMAGES = /^image\/(?:png|apng|jpe?g|gif|webp|avif|svg\+xml|bmp|x-icon|vnd\.microsoft\.icon)\s*(?:;|$)/i;

function candidateOf(element: Element, screen: Screen): string | null {
  const set = attribute(element, "srcset");
  return set === null ? null : chooseCandidate(parseSrcset(set, attribute(element, "sizes"), screen));
}

/**
 * Only what plays by itself or is to be there beforehand is fetched whole (HTML, media elements); of others a browser
 * takes the first octets. Without src the first source that fits counts.
 */
function ofMedia(element: Element, { screen }: Place): FoundReference[] {
  const preload = attribute(element, "preload")?.toLowerCase();
  if (!has(element, "autoplay") && preload !== "auto" && preload !== "") return [];
  if (has(element, "src")) return plain(element, "src", "media");
  for (const source of element.children.slice(0, 100).filter((child) => isTag(child))) {
    if (source.name !== "source") continue;
    const type = attribute(source, "type") ?? "";
    const fits = type === "" || PLAYED_MEDIA.test(type);
    const address = attribute(source, "src") ?? "";
    if (fits && address !== "" && matchesMedia(attribute(source, "media") ?? "", screen)) {
      return [{ address, type: "media" }];
    }
  }
  return [];
}

/** What current browsers play without help. */
const PLAYED_MEDIA = /^(?:video|audio)\/(?:mp4|webm|ogg|mpeg|mp3|aac|flac|wav|x-m4a|x-wav)\s*(?:;|$)/i;

const STYLE_TYPES = { import: "stylesheet", font: "font", image: "image" } as const;

function ofStyle(css: string, { screen }: Place, sheet: boolean): FoundReference[] {
  return styleReferences(css).flatMap(({ address, kind, media }) => {
    if (kind === "import" && !sheet) return [];
    return [{ address, type: STYLE_TYPES[kind], blocking: kind === "import" && matchesMedia(media, screen) }];
  });
}

function plain(element: Element, name: string, type: ResourceType, lazy = false): FoundReference[] {
  const address = attribute(element, name);
  return address === null || address === "" ? [] : [{ address, type, lazy }];
}

function has(element: Element, name: string): boolean {
  return Object.hasOwn(element.attribs, name);
}

function is(element: Element, name: string, value: string): boolean {
  return attribute(element, name)?.toLowerCase() === value;
}

function words(element: Element, name: string): string[] {
  return (attribute(element, name) ?? "").toLowerCase().split(/\s+/);
}
