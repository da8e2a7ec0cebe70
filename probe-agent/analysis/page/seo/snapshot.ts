import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import type { HeaderPair } from "#probe-agent/analysis/http/header-list.ts";
import type { Unknown } from "#probe-agent/analysis/text/unknown-fact.ts";

/** robots.txt of the page's origin. */
export type RobotsTxt = { readonly known: true; readonly status: number; readonly text: string | null } | Unknown;

/** Where sitemaps were looked for. */
export interface SitemapSearch {
  /** Addresses robots.txt names. */
  readonly named: readonly string[];
  /** The one that was fetched: the first named, else /sitemap.xml. */
  readonly tried:
    | { readonly known: true; readonly url: string; readonly status: number; readonly looksLikeOne: boolean }
    | Unknown;
}

/** The page of an audit. */
export interface SeoSource {
  /** Where the page was in the end. */
  readonly url: string;
  readonly status: number;
  readonly headers: readonly HeaderPair[];
  /** Null where the answer is no HTML. */
  readonly page: Page | null;
}

/** What stands beside it. */
export interface SeoBeside {
  readonly robots: RobotsTxt;
  readonly sitemap: SitemapSearch;
  /** Whether /favicon.ico is there; null where it was not looked for or could not be told. */
  readonly defaultIcon: boolean | null;
}
