import { listAssets, type Asset } from "#probe-agent/analysis/page/cms/assets.ts";
import { shopifyTheme } from "#probe-agent/analysis/page/cms/parts.ts";
import type { ReadPage } from "#probe-agent/analysis/html/pages/reading.ts";

/** What a page shows of its system beside its technologies. */
export interface CmsReport {
  readonly assets: readonly Asset[];
  readonly shopifyTheme: ReturnType<typeof shopifyTheme>;
}

/** Reads it; empty where the answer is no HTML. */
export function cmsReport({ page, url }: ReadPage): CmsReport {
  return {
    assets: page === null ? [] : listAssets(page, url),
    shopifyTheme: page === null ? null : shopifyTheme(page.text),
  };
}
