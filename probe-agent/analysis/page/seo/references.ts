import { documentBase, resolveUrl } from "#probe-agent/analysis/http/address.ts";
import { readHeadLinks } from "#probe-agent/analysis/html/head-links.ts";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import { parseLinkHeader } from "#probe-agent/analysis/http/link-header.ts";
import { headerValues, type HeaderPair } from "#probe-agent/analysis/http/header-list.ts";

/** A link element of the head, or a link of the Link header, with its address. */
export interface PageReference {
  readonly source: "html" | "http_header";
  readonly rel: readonly string[];
  /** As written, trimmed. */
  readonly written: string;
  /** Null where it is no URL. */
  readonly url: URL | null;
  readonly hreflang: string | null;
  /** Why readers that run no scripts ignore it; null where they read it. */
  readonly ignoredWithoutScripts: string | null;
}

/** A link that search engines ignore, with the reason, a clause for a sentence. */
interface IgnoredReference {
  readonly rel: readonly string[];
  readonly hreflang: string | null;
  readonly why: string;
}

/** What a page refers to. */
export interface PageReferences {
  readonly head: readonly PageReference[];
  readonly ignored: readonly IgnoredReference[];
}

/** What a page refers to by links of header and head, and the links that are ignored where they are. */
export function readReferences(page: Page | null, headers: readonly HeaderPair[], pageUrl: string): PageReferences {
  const head: PageReference[] = parseLinkHeader(headerValues(headers, "link"))
    .filter(({ anchor }) => anchor === null)
    .map(({ target, rel, parameters }) => ({
      source: "http_header",
      rel,
      written: target,
      url: resolveUrl(target, pageUrl),
      hreflang: parameters.get("hreflang")?.trim() ?? null,
      ignoredWithoutScripts: null,
    }));
  const ignored: IgnoredReference[] = [];
  const base = documentBase(page?.facts.baseHref ?? null, pageUrl);
  for (const link of page === null ? [] : readHeadLinks(page)) {
    const { rel, href, hreflang, ignoredWithoutScripts } = link;
    // An empty href names nothing (HTML, "fetch and process the linked resource"), least of all the page itself.
    const url = href === "" ? null : resolveUrl(href, base);
    if (link.ignored === null) head.push({ source: "html", rel, written: href, url, hreflang, ignoredWithoutScripts });
    else ignored.push({ rel, hreflang, why: link.ignored });
  }
  return { head, ignored };
}

/** Whether an address is complete: with scheme and host. */
export function isAbsolute(written: string): boolean {
  return /^https?:\/\//i.test(written);
}
