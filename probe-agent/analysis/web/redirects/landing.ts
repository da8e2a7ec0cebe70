import { documentBase } from "#probe-agent/analysis/http/address.ts";
import { walkElements } from "#probe-agent/analysis/html/document.ts";
import { attribute, metaPragmas } from "#probe-agent/analysis/html/page.ts";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import type { ReadPage } from "#probe-agent/analysis/html/pages/reading.ts";
import type { FoundRefresh } from "#probe-agent/analysis/web/redirects/chain.ts";
import { parseRefresh, type Refresh } from "#probe-agent/analysis/http/refresh.ts";
import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import { readCanonical, type Canonical } from "#probe-agent/analysis/html/canonical.ts";
import { webUrl, withoutFragment } from "#probe-agent/analysis/http/url/web-url.ts";

/** A refresh with its target as plain text. */
export interface LandingRefresh extends Omit<FoundRefresh, "target"> {
  readonly target: string | null;
  /** Whether the refresh has no URL. */
  readonly bare: boolean;
}

/** Properties of the page at the end of a chain of redirects. */
export interface Landing {
  readonly title: string | null;
  readonly canonical: Canonical;
  readonly refresh: LandingRefresh | null;
}

/** Maximum number of elements within noscript that are examined. */
const MAX_NOSCRIPT = 50;

/** Reads the page at the end of a chain of redirects. */
export function readLanding({ page, url, headers }: ReadPage): Landing {
  return {
    title: page?.facts.title ?? null,
    canonical: readCanonical(headers, page, url),
    refresh: findRefresh({ page, url, headers }),
  };
}

/** Finds the refresh that applies: the header, else the first meta element (WHATWG HTML), else one in noscript. */
function findRefresh({ page, url: pageUrl, headers }: Pick<ReadPage, "page" | "url" | "headers">) {
  const base = documentBase(page?.facts.baseHref ?? null, pageUrl);
  const found = (kind: FoundRefresh["kind"], values: readonly string[], from: string): LandingRefresh | null => {
    const refresh = values.map(parseRefresh).find((one): one is Refresh => one !== null);
    if (refresh === undefined) return null;
    const target = webUrl(refresh.url ?? pageUrl, from);
    const reloads = target !== null && withoutFragment(target) === withoutFragment(new URL(pageUrl));
    const { delaySeconds, url } = refresh;
    return { kind, delaySeconds, target: target?.href ?? null, reloads, bare: url === null };
  };
  return (
    found("refresh_header", headerValues(headers, "refresh"), pageUrl) ??
    (page === null ? null : found("meta", metaPragmas(page.facts, "refresh"), base)) ??
    (page === null ? null : found("noscript", noscriptRefreshes(page), base))
  );
}

function noscriptRefreshes({ document }: Page): string[] {
  const contents: string[] = [];
  let examined = 0;
  for (const noscript of walkElements(document.root)) {
    if (noscript.name !== "noscript") continue;
    for (const element of walkElements(noscript)) {
      examined += 1;
      if (examined > MAX_NOSCRIPT) return contents;
      const isRefresh = element.name === "meta" && attribute(element, "http-equiv")?.toLowerCase() === "refresh";
      if (isRefresh) contents.push(attribute(element, "content") ?? "");
    }
  }
  return contents;
}
