import { documentBase, resolveAddress } from "#probe-agent/analysis/http/address.ts";
import { walkElements } from "#probe-agent/analysis/html/document.ts";
import { INERT_ELEMENTS } from "#probe-agent/analysis/html/page.ts";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import type { HeaderLink } from "#probe-agent/analysis/http/link-header.ts";
import { destinationType, findReferences } from "#probe-agent/analysis/page/page-resources/elements.ts";
import { countImage, noImages } from "#probe-agent/analysis/page/page-resources/image-facts.ts";
import type { Screen } from "#probe-agent/analysis/page/page-resources/media-query.ts";
import type {
  FoundReference,
  ImageFacts,
  PageResource,
  ResourceHint,
} from "#probe-agent/analysis/page/page-resources/resource.ts";
import { isSameSite } from "#probe-agent/analysis/http/same-site.ts";

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
