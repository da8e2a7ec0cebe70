import type { Element } from "domhandler";
import { isTag } from "domhandler";
import { rawTextOf } from "#probe-agent/analysis/html/document.ts";
import { attribute } from "#probe-agent/analysis/html/page.ts";
import { matchesMedia, type Screen } from "#probe-agent/analysis/page/page-resources/media-query.ts";
import type { FoundReference, ResourceType } from "#probe-agent/analysis/page/page-resources/resource.ts";
import { chooseCandidate, parseSrcset } from "#probe-agent/analysis/page/page-resources/srcset.ts";
import { styleReferences } from "#probe-agent/analysis/page/page-resources/style-references.ts";

/** Context on which an element's references depend. */
interface Place {
  /** Whether the element is before any element of the body. */
  readonly inHead: boolean;
  readonly screen: Screen;
}

const MAX_STYLE = 500_000;
/** JavaScript MIME types (WHATWG MIME Sniffing) in common use. An empty type is JavaScript too. */
const CLASSIC_SCRIPT = /^(?:|(?:text|application)\/(?:x-)?(?:java|ecma)script)$/;
/** Resource types by preload destination (Fetch standard). */
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

/** Finds the resources that an element makes a browser fetch when it opens the page. */
export function findReferences(element: Element, place: Place): FoundReference[] {
  const read = READERS[element.name];
  const found = read === undefined ? [] : read(element, place);
  const style = attribute(element, "style");
  return style === null || !/url\(/i.test(style) ? found : [...found, ...findStyleReferences(style, place, false)];
}

type Read = (element: Element, place: Place) => FoundReference[];

const READERS: Readonly<Record<string, Read | undefined>> = Object.assign(Object.create(null) as object, {
  script: findScript,
  link: findLink,
  style: (element: Element, place: Place) =>
    matchesMedia(attribute(element, "media") ?? "", place.screen)
      ? findStyleReferences(rawTextOf(element, MAX_STYLE), place, true)
      : [],
  img: findImage,
  input: (element: Element) => (hasValue(element, "type", "image") ? attributeReference(element, "src", "image") : []),
  video: (element: Element, place: Place) => [
    ...attributeReference(element, "poster", "image"),
    ...findMedia(element, place),
  ],
  audio: findMedia,
  iframe: (element: Element) =>
    hasAttribute(element, "srcdoc")
      ? []
      : attributeReference(element, "src", "frame", hasValue(element, "loading", "lazy")),
  frame: (element: Element) => attributeReference(element, "src", "frame"),
  embed: (element: Element) => attributeReference(element, "src", "other"),
  object: (element: Element) => attributeReference(element, "data", "other"),
  image: (element: Element) => [
    ...attributeReference(element, "href", "image"),
    ...attributeReference(element, "xlink:href", "image"),
  ],
  feimage: (element: Element) => attributeReference(element, "href", "image"),
  use: (element: Element) => [
    ...attributeReference(element, "href", "image"),
    ...attributeReference(element, "xlink:href", "image"),
  ],
  body: (element: Element) => attributeReference(element, "background", "image"),
} satisfies Record<string, Read>);

/**
 * Finds the file of a script element (HTML 4.12.1). Classic scripts without async and defer stop the parser, modules
 * are deferred, and nomodule scripts are for old browsers only.
 */
function findScript(element: Element, { inHead }: Place): FoundReference[] {
  const type = (attribute(element, "type") ?? "").toLowerCase();
  const module = type === "module";
  if ((!module && !CLASSIC_SCRIPT.test(type)) || (!module && hasAttribute(element, "nomodule"))) return [];
  const deferred = module || hasAttribute(element, "async") || hasAttribute(element, "defer");
  const blocking = splitTokens(element, "blocking").includes("render") || (inHead && !deferred);
  return attributeReference(element, "src", "script").map((reference) => ({ ...reference, blocking }));
}

function findLink(element: Element, { screen }: Place): FoundReference[] {
  const rel = splitTokens(element, "rel");
  const media = matchesMedia(attribute(element, "media") ?? "", screen);
  if (rel.includes("stylesheet")) {
    const type = (attribute(element, "type") ?? "").toLowerCase();
    if (rel.includes("alternate") || hasAttribute(element, "disabled") || (type !== "" && type !== "text/css"))
      return [];
    return attributeReference(element, "href", "stylesheet").map((reference) => ({ ...reference, blocking: media }));
  }
  if (rel.includes("modulepreload")) return attributeReference(element, "href", "script");
  if (rel.includes("preload")) return media ? findPreload(element, screen) : [];
  if (rel.includes("icon") || rel.includes("manifest")) {
    return attributeReference(element, "href", rel.includes("icon") ? "image" : "other");
  }
  return [];
}

function findPreload(element: Element, screen: Screen): FoundReference[] {
  const type = destinationType(attribute(element, "as"));
  const set = attribute(element, "imagesrcset");
  const chosen = set === null ? null : chooseCandidate(parseSrcset(set, attribute(element, "imagesizes"), screen));
  return chosen === null ? attributeReference(element, "href", type) : [{ address: chosen, type }];
}

/** Returns the resource type of a preload's destination. */
export function destinationType(as: string | null): ResourceType {
  const word = (as ?? "").toLowerCase();
  return Object.hasOwn(DESTINATIONS, word) ? (DESTINATIONS[word] ?? "other") : "other";
}

/** Finds the file of an img element: the first matching source of its picture, else its own srcset, else its src. */
function findImage(element: Element, { screen }: Place): FoundReference[] {
  const lazy = hasValue(element, "loading", "lazy");
  const address = findSource(element, screen) ?? findCandidate(element, screen) ?? attribute(element, "src");
  return address === null || address === "" ? [] : [{ address, type: "image", lazy }];
}

function findSource(image: Element, screen: Screen): string | null {
  const { parent } = image;
  if (parent === null || !isTag(parent) || parent.name !== "picture") return null;
  for (const child of parent.children.slice(0, 100)) {
    if (child === image) return null;
    if (!isTag(child) || child.name !== "source") continue;
    const type = attribute(child, "type");
    const supported = type === null || type === "" || SHOWN_IMAGES.test(type);
    const chosen =
      supported && matchesMedia(attribute(child, "media") ?? "", screen) ? findCandidate(child, screen) : null;
    if (chosen !== null) return chosen;
  }
  return null;
}

const SHOWN_IMAGES = /^image\/(?:png|apng|jpe?g|gif|webp|avif|svg\+xml|bmp|x-icon|vnd\.microsoft\.icon)\s*(?:;|$)/i;

function findCandidate(element: Element, screen: Screen): string | null {
  const set = attribute(element, "srcset");
  return set === null ? null : chooseCandidate(parseSrcset(set, attribute(element, "sizes"), screen));
}

/**
 * Finds the file of an audio or video element. Browsers fetch it whole only with autoplay or preload=auto (HTML, media
 * elements); of others they fetch the first bytes. Without src, the first matching source counts.
 */
function findMedia(element: Element, { screen }: Place): FoundReference[] {
  const preload = attribute(element, "preload")?.toLowerCase();
  if (!hasAttribute(element, "autoplay") && preload !== "auto" && preload !== "") return [];
  if (hasAttribute(element, "src")) return attributeReference(element, "src", "media");
  for (const source of element.children.slice(0, 100).filter((child) => isTag(child))) {
    if (source.name !== "source") continue;
    const type = attribute(source, "type") ?? "";
    const supported = type === "" || PLAYED_MEDIA.test(type);
    const address = attribute(source, "src") ?? "";
    if (supported && address !== "" && matchesMedia(attribute(source, "media") ?? "", screen)) {
      return [{ address, type: "media" }];
    }
  }
  return [];
}

/** Media types that current browsers play without plugins. */
const PLAYED_MEDIA = /^(?:video|audio)\/(?:mp4|webm|ogg|mpeg|mp3|aac|flac|wav|x-m4a|x-wav)\s*(?:;|$)/i;

const STYLE_TYPES = { import: "stylesheet", font: "font", image: "image" } as const;

function findStyleReferences(css: string, { screen }: Place, sheet: boolean): FoundReference[] {
  return styleReferences(css).flatMap(({ address, kind, media }) => {
    if (kind === "import" && !sheet) return [];
    return [{ address, type: STYLE_TYPES[kind], blocking: kind === "import" && matchesMedia(media, screen) }];
  });
}

function attributeReference(element: Element, name: string, type: ResourceType, lazy = false): FoundReference[] {
  const address = attribute(element, name);
  return address === null || address === "" ? [] : [{ address, type, lazy }];
}

function hasAttribute(element: Element, name: string): boolean {
  return Object.hasOwn(element.attribs, name);
}

function hasValue(element: Element, name: string, value: string): boolean {
  return attribute(element, name)?.toLowerCase() === value;
}

function splitTokens(element: Element, name: string): string[] {
  return (attribute(element, name) ?? "").toLowerCase().split(/\s+/);
}
