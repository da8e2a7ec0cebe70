import { documentBase, resolveAddress } from "#probe-agent/analysis/http/address.ts";
import { walkElements } from "#probe-agent/analysis/html/document.ts";
import { INERT_ELEMENTS, attribute } from "#probe-agent/analysis/html/page.ts";
import { definePageAnalysis, type Page, readHtml, type ReadPage } from "#probe-agent/analysis/html/read-page.ts";
import { type HeaderLink, parseLinkHeader } from "#probe-agent/analysis/http/link-header.ts";
import { destinationType, findReferences } from "#probe-agent/analysis/page/page-resources/elements.ts";
import type { Screen } from "#probe-agent/analysis/page/page-resources/media-query.ts";
import type {
  FoundReference,
  ImageFacts,
  PageResource,
  ResourceHint,
} from "#probe-agent/analysis/page/page-resources/resource.ts";
import { isSameSite } from "#probe-agent/analysis/http/same-site.ts";
import { isTag, type Element } from "domhandler";
import { headerValues } from "#probe-agent/analysis/http/header-list.ts";

/** Resources that the HTML of a page makes a browser load. */
export interface PageResources {
  /** Each address once, in the order of the page. */
  readonly resources: readonly PageResource[];
  /** Whether the page has more resources or references than are read. */
  readonly truncated: boolean;
  readonly hints: readonly ResourceHint[];
  readonly images: ImageFacts;
}

/** Maximum numbers of addresses and hints kept. */
const MAX_RESOURCES = 2000;
const MAX_HINTS = 100;
/** Maximum number of references read, including repeated ones. */
const MAX_REFERENCES = 50_000;
/** Elements allowed in the head. Any other element starts the body. */
const HEAD_ELEMENTS = new Set([
  "html",
  "head",
  "base",
  "link",
  "meta",
  "noscript",
  "script",
  "style",
  "template",
  "title",
]);
const HINTS = ["preload", "modulepreload", "preconnect", "dns-prefetch"] as const;

/** Desktop screen with the size that Lighthouse uses. */
const DESKTOP_SCREEN: Screen = { width: 1350, height: 940 };

type Counts = { -readonly [Key in keyof ImageFacts]: ImageFacts[Key] };

const MODERN = /^(?:webp|avif|jxl)$/;
const KNOWN = /^(?:webp|avif|jxl|png|apng|jpe?g|jfif|gif|bmp)$/;

/** Finds the resources that a page's HTML references. Those loaded by its scripts and style sheets are unknown. */
export function findResources(
  page: Page,
  pageUrl: string,
  links: readonly HeaderLink[] = [],
  screen: Screen = DESKTOP_SCREEN,
): PageResources {
  const collector = createCollector(pageUrl);
  const base = documentBase(page.facts.baseHref, pageUrl);
  const hints: ResourceHint[] = [];
  const hint = (rel: readonly string[], address: string | null, from: string, as: string | null, header: boolean) => {
    const name = HINTS.find((one) => rel.includes(one));
    const url = name === undefined || address === null ? null : resolveAddress(address, from);
    if (name === undefined || url === null || hints.length >= MAX_HINTS) return;
    hints.push({ url, rel: name, as, from: header ? "header" : "html" });
  };
  for (const { target, rel, anchor, parameters } of links) {
    if (anchor !== null) continue;
    const as = parameters.get("as") ?? null;
    hint(rel, target, pageUrl, as, true);
    // Only Firefox loads style sheets of Link headers. All browsers load preloads.
    if (rel.includes("preload")) collector.add("link header", pageUrl, { address: target, type: destinationType(as) });
  }
  for (const link of page.facts.links) hint(link.rel, link.href, base, link.as, false);
  const images = noImages();
  let inHead = true;
  for (const element of walkElements(page.document.root, INERT_ELEMENTS)) {
    inHead &&= HEAD_ELEMENTS.has(element.name);
    if (element.name === "img") countImage(images, element);
    for (const reference of findReferences(element, { inHead, screen })) collector.add(element.name, base, reference);
    if (collector.full()) break;
  }
  return { resources: collector.resources(), truncated: collector.truncated(), hints, images };
}

function createCollector(pageUrl: string) {
  const byUrl = new Map<string, PageResource>();
  const pageHost = new URL(pageUrl).hostname;
  const self = withoutFragment(pageUrl);
  const sameSite = new Map<string, boolean>();
  let [referenceCount, truncated] = [0, false];
  const isThirdParty = (host: string): boolean => {
    const known = sameSite.get(host) ?? isSameSite(host, pageHost);
    sameSite.set(host, known);
    return !known;
  };
  return {
    add(element: string, base: string, { address, type, blocking = false, lazy = false }: FoundReference): void {
      referenceCount += 1;
      const resolved = /^\s*(?:data|blob|javascript|about):|^\s*#/i.test(address)
        ? null
        : resolveAddress(address, base);
      if (resolved === null || !/^https?:/.test(resolved)) return;
      const url = withoutFragment(resolved);
      if (url === self) return;
      const known = byUrl.get(url);
      if (known === undefined && byUrl.size >= MAX_RESOURCES) truncated = true;
      else if (known === undefined) {
        const thirdParty = isThirdParty(new URL(url).hostname);
        byUrl.set(url, { url, type, element, thirdParty, renderBlocking: blocking, lazy });
      } else {
        byUrl.set(url, { ...known, renderBlocking: known.renderBlocking || blocking, lazy: known.lazy && lazy });
      }
    },
    full: () => referenceCount >= MAX_REFERENCES,
    resources: () => [...byUrl.values()],
    truncated: () => truncated || referenceCount >= MAX_REFERENCES,
  };
}

function withoutFragment(url: string): string {
  return url.split("#", 1)[0] ?? url;
}

/** Returns counts that are all 0. */
function noImages(): Counts {
  return { total: 0, lazy: 0, missing_dimensions: 0, modern_formats: 0, known_formats: 0, responsive: 0 };
}

/** Adds an img element to the counts. Ignores one without src and srcset. */
function countImage(counts: Counts, image: Element): void {
  const src = attribute(image, "src") ?? "";
  const set = attribute(image, "srcset");
  if (src === "" && set === null) return;
  const sources = findPictureSources(image);
  counts.total += 1;
  if (attribute(image, "loading")?.toLowerCase() === "lazy") counts.lazy += 1;
  if (set !== null || sources.length > 0) counts.responsive += 1;
  const sized = attribute(image, "width") !== null && attribute(image, "height") !== null;
  const style = attribute(image, "style") ?? "";
  const styled = /aspect-ratio\s*:|(?:^|[;\s])height\s*:/i.test(style) && /(?:aspect-ratio|width)\s*:/i.test(style);
  if (!sized && !styled) counts.missing_dimensions += 1;
  const formats = [
    ...sources.map(findSourceFormat),
    findFormat(src),
    findFormat((set ?? "").trim().split(/[\s,]/, 1)[0] ?? ""),
  ];
  if (formats.some((format) => KNOWN.test(format))) counts.known_formats += 1;
  if (formats.some((format) => MODERN.test(format))) counts.modern_formats += 1;
}

function findPictureSources(image: Element): Element[] {
  const { parent } = image;
  if (parent === null || !isTag(parent) || parent.name !== "picture") return [];
  return parent.children
    .slice(0, 100)
    .filter((child) => isTag(child))
    .filter(({ name }) => name === "source");
}

function findSourceFormat(source: Element): string {
  const type = /^image\/(?:x-)?([a-z]+)/i.exec(attribute(source, "type") ?? "")?.[1];
  return type?.toLowerCase() ?? findFormat((attribute(source, "srcset") ?? "").split(/[\s,]/, 1)[0] ?? "");
}

/** Returns the image format by file extension or by the type of a data: URL. Returns "" if neither shows it. */
function findFormat(address: string): string {
  const data = /^data:image\/([a-z]+)/i.exec(address)?.[1];
  if (data !== undefined) return data.toLowerCase();
  const path = address.slice(0, 2048).split(/[?#]/, 1)[0] ?? "";
  return /\.([a-z0-9]{2,5})$/i.exec(path)?.[1]?.toLowerCase() ?? "";
}

/** Reports the resources that a page makes a browser load. `dom` is null if the response is not HTML. */
export function pageResources({ page, url, headers }: ReadPage) {
  const links = parseLinkHeader(headerValues(headers, "link"));
  return {
    found: findResources(page ?? readHtml(""), url, links),
    dom: page === null ? null : { elements: page.document.elements, depth: page.document.depth },
  };
}

/** Resources that a page loads. */
export const resourcesAnalysis = definePageAnalysis("resources", pageResources);
