import { documentBase, resolveUrl } from "#probe-agent/analysis/http/address.ts";
import { readHeadLinks } from "#probe-agent/analysis/html/head-links.ts";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import { parseLinkHeader } from "#probe-agent/analysis/http/link-header.ts";
import { headerValues, type HeaderPair } from "#probe-agent/analysis/http/header-list.ts";

/** A link element of the head, or a link of the Link header. */
export interface PageReference {
  readonly source: "html" | "http_header";
  readonly rel: readonly string[];
  /** The address as in the source, trimmed. */
  readonly written: string;
  /** Resolved address; null if it is not a URL. */
  readonly url: URL | null;
  readonly hreflang: string | null;
  /** Why crawlers that run no scripts ignore the link, as a clause; null if they read it. */
  readonly ignoredWithoutScripts: string | null;
}

/** A link that search engines ignore. `why` is the reason, as a clause. */
interface IgnoredReference {
  readonly rel: readonly string[];
  readonly hreflang: string | null;
  readonly why: string;
}

/** The links that search engines read (of the Link header and the head), and the links that they ignore. */
export interface PageReferences {
  readonly head: readonly PageReference[];
  readonly ignored: readonly IgnoredReference[];
}

/** Reads the links of the Link header and the head of a page. `page` is null for a response that is not HTML. */
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
    // An empty href is no address, not even that of the page (HTML, "fetch and process the linked resource").
    const url = href === "" ? null : resolveUrl(href, base);
    if (link.ignored === null) head.push({ source: "html", rel, written: href, url, hreflang, ignoredWithoutScripts });
    else ignored.push({ rel, hreflang, why: link.ignored });
  }
  return { head, ignored };
}

/** Reports whether an address is absolute: it has a scheme and a host. */
export function isAbsolute(written: string): boolean {
  return /^https?:\/\//i.test(written);
}
