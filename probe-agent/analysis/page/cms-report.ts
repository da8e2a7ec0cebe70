import { listAssets, type Asset } from "#probe-agent/analysis/page/cms-assets.ts";
import { shopifyTheme } from "#probe-agent/analysis/page/cms-parts.ts";
import type { ReadPage } from "#probe-agent/analysis/html/read-page.ts";

/** Facts about a page's system in addition to its technologies. */
export interface CmsReport {
  readonly assets: readonly Asset[];
  readonly shopifyTheme: ReturnType<typeof shopifyTheme>;
}

/** Collects the facts about a page's system. They are empty if the response is not HTML. */
export function cmsReport({ page, url }: ReadPage): CmsReport {
  return {
    assets: page === null ? [] : listAssets(page, url),
    shopifyTheme: page === null ? null : shopifyTheme(page.text),
  };
}
