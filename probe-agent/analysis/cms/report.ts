import { listAssets } from "#probe-agent/analysis/cms/assets.ts";
import { shopifyTheme } from "#probe-agent/analysis/cms/parts.ts";
import type { ReadPage } from "#probe-agent/analysis/pages/reading.ts";

/** What a page shows of its system beside its technologies. */
export function cmsReport({ page, url }: ReadPage) {
  return {
    assets: page === null ? [] : listAssets(page, url),
    shopifyTheme: page === null ? null : shopifyTheme(page.text),
  };
}
