import { documentBase } from "#probe-agent/analysis/http/address.ts";
import { readHeadLinks } from "#probe-agent/analysis/html/head-links.ts";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import { parseLinkHeader } from "#probe-agent/analysis/http/link-header.ts";
import { headerValues, type HeaderPair } from "#probe-agent/analysis/http/header-list.ts";
import { webUrl, withoutFragment } from "#probe-agent/analysis/http/web-url.ts";

/** Canonical URL of a page (RFC 6596). */
export interface Canonical {
  /** null if the page names none, or several different ones, of which none counts. */
  readonly url: string | null;
  readonly source: "html" | "header" | null;
  /** All URLs named, those of the Link header first. Up to 20. */
  readonly named: readonly string[];
  /** Number of values that are not http or https URLs. */
  readonly unusable: number;
}

const MAX_NAMED = 20;

/**
 * Reads `link rel=canonical` of the Link header and of the page's head, except those that search engines ignore. `url`
 * is the page's own URL.
 */
export function readCanonical(headers: readonly HeaderPair[], page: Page | null, url: string): Canonical {
  const fromHeader = parseLinkHeader(headerValues(headers, "link"))
    .filter(({ rel, anchor }) => rel.includes("canonical") && isOwnContext(anchor, url))
    .map(({ target }) => webUrl(target, url));
  const base = documentBase(page?.facts.baseHref ?? null, url);
  const fromPage = (page === null ? [] : readHeadLinks(page))
    .filter(({ rel, href, ignored }) => rel.includes("canonical") && href !== "" && ignored === null)
    .map(({ href }) => webUrl(href, base));
  const all = [...fromHeader, ...fromPage];
  const usable = all.filter((one) => one !== null).map(({ href }) => href);
  const named = [...new Set(usable)];
  const [only = null] = named.length === 1 ? named : [];
  return {
    url: only,
    source: only === null ? null : fromHeader.some((one) => one?.href === only) ? "header" : "html",
    named: named.slice(0, MAX_NAMED),
    unusable: all.length - usable.length,
  };
}

/** Reports whether a link is about the page itself. With an anchor it is about that resource (RFC 8288 section 3.2). */
function isOwnContext(anchor: string | null, url: string): boolean {
  if (anchor === null) return true;
  const context = webUrl(anchor, url);
  return context !== null && !anchor.includes("#") && withoutFragment(context) === withoutFragment(new URL(url));
}
