import { documentBase, resolveUrl } from "#probe-agent/analysis/html/address.ts";
import { walkElements } from "#probe-agent/analysis/html/document.ts";
import { attribute, INERT_ELEMENTS, isInside } from "#probe-agent/analysis/html/page.ts";
import type { Page } from "#probe-agent/analysis/html.ts";
import { parseLinkHeader } from "#probe-agent/analysis/link-header.ts";
import { headerValues, type HeaderPair } from "#probe-agent/analysis/security/snapshot.ts";

/** A link element of the head, or a link of the Link header, with its address. */
export interface PageReference {
  readonly source: "html" | "http_header";
  readonly rel: readonly string[];
  /** As written, trimmed. */
  readonly written: string;
  /** Null where it is no URL. */
  readonly url: URL | null;
  readonly hreflang: string | null;
}

const MAX_REFERENCES = 2000;

/** What a page refers to by links of header and head. Those in the body do not count: search engines ignore them there. */
export function readReferences(
  page: Page | null,
  headers: readonly HeaderPair[],
  pageUrl: string,
): { readonly head: readonly PageReference[]; readonly bodyCanonicals: number } {
  const head: PageReference[] = parseLinkHeader(headerValues(headers, "link"))
    .filter(({ anchor }) => anchor === null)
    .map(({ target, rel, parameters }) => ({
      source: "http_header",
      rel,
      written: target,
      url: resolveUrl(target, pageUrl),
      hreflang: parameters.get("hreflang")?.trim() ?? null,
    }));
  let bodyCanonicals = 0;
  if (page === null) return { head, bodyCanonicals };
  const base = documentBase(page.facts.baseHref, pageUrl);
  for (const element of walkElements(page.document.root, INERT_ELEMENTS)) {
    if (element.name !== "link" || head.length >= MAX_REFERENCES) continue;
    const href = attribute(element, "href");
    const rel = (attribute(element, "rel") ?? "").toLowerCase().split(/\s+/);
    if (href === null || !(rel.includes("canonical") || rel.includes("alternate"))) continue;
    if (isInside(element, "body")) {
      bodyCanonicals += rel.includes("canonical") ? 1 : 0;
      continue;
    }
    // An empty href names nothing (HTML, "fetch and process the linked resource"), least of all the page itself.
    const url = href === "" ? null : resolveUrl(href, base);
    head.push({ source: "html", rel, written: href, url, hreflang: attribute(element, "hreflang") });
  }
  return { head, bodyCanonicals };
}

/** Whether an address stands for itself: with scheme and host. */
export function isAbsolute(written: string): boolean {
  return /^https?:\/\//i.test(written);
}
