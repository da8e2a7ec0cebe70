import { documentBase } from "#probe-agent/analysis/http/address.ts";
import { readHeadLinks } from "#probe-agent/analysis/html/head-links.ts";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import { parseLinkHeader } from "#probe-agent/analysis/http/link-header.ts";
import { headerValues, type HeaderPair } from "#probe-agent/analysis/http/header-list.ts";
import { webUrl, withoutFragment } from "#probe-agent/analysis/http/url/web-url.ts";

/** The address a page wants to be known by (RFC 6596). */
export interface Canonical {
  /** Null where none is named, or several different ones are: then none counts. */
  readonly url: string | null;
  readonly source: "html" | "header" | null;
  /** All that are named, in order: Link header before the page; at most 20. */
  readonly named: readonly string[];
  /** Values that are no URL of the web. */
  readonly unusable: number;
}

const MAX_NAMED = 20;

/** Reads `link rel=canonical` of header and page's head; one that search engines ignore is none. `url` is the page's own. */
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

/** A link with an anchor speaks of another resource (RFC 8288 section 3.2). */
function isOwnContext(anchor: string | null, url: string): boolean {
  if (anchor === null) return true;
  const context = webUrl(anchor, url);
  return context !== null && !anchor.includes("#") && withoutFragment(context) === withoutFragment(new URL(url));
}
