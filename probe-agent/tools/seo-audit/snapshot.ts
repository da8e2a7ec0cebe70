import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import type { HeaderPair } from "#probe-agent/analysis/http/header-list.ts";
import type { Unknown } from "#probe-agent/analysis/text/unknown-fact.ts";

/** robots.txt of the page's origin. `text` is null if the status is not 200 or the body is HTML. */
export type RobotsTxt = { readonly known: true; readonly status: number; readonly text: string | null } | Unknown;

/** Result of the search for a sitemap. */
export interface SitemapSearch {
  /** Addresses of sitemaps in robots.txt. */
  readonly named: readonly string[];
  /** Response at the first address of `named`, or at /sitemap.xml if there is none. */
  readonly tried:
    | { readonly known: true; readonly url: string; readonly status: number; readonly looksLikeSitemap: boolean }
    | Unknown;
}

/** The page of an audit and its response. */
export interface SeoSource {
  /** Address of the page after redirects. */
  readonly url: string;
  readonly status: number;
  readonly headers: readonly HeaderPair[];
  /** null if the response is not HTML. */
  readonly page: Page | null;
}

/** The files of the site that an audit reads besides the page. */
export interface SeoSite {
  readonly robots: RobotsTxt;
  readonly sitemap: SitemapSearch;
  /** Whether /favicon.ico exists; null if it was not requested or the result is unknown. */
  readonly defaultIcon: boolean | null;
}
