import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import { walkElements } from "#probe-agent/analysis/html/document.ts";
import { attribute } from "#probe-agent/analysis/html/page.ts";

/** Address of a file that a page references, parsed. */
export interface Asset {
  readonly host: string;
  readonly path: string;
  /** Value of the query parameter `ver` or `v` if it looks like a version, else null. */
  readonly version: string | null;
}

const MAX_ASSETS = 3000;
const MAX_LENGTH = 2048;
const ATTRIBUTES = new Map([
  ["script", "src"],
  ["link", "href"],
  ["img", "src"],
  ["source", "src"],
]);

/** Lists the scripts, styles, images and other linked files of a page, each address once. */
export function listAssets(page: Page, pageUrl: string): Asset[] {
  const base = URL.parse(page.facts.baseHref ?? "", pageUrl)?.href ?? pageUrl;
  const assets = new Map<string, Asset>();
  for (const element of walkElements(page.document.root)) {
    const name = ATTRIBUTES.get(element.name);
    const value = name === undefined ? null : attribute(element, name);
    if (value === null || value === "" || value.length > MAX_LENGTH) continue;
    const url = URL.parse(value, base);
    if (url === null || !url.protocol.startsWith("http")) continue;
    const given = url.searchParams.get("ver") ?? url.searchParams.get("v") ?? "";
    const version = /^\d{1,4}(?:\.\d{1,5}){1,3}$/.test(given) ? given : null;
    assets.set(url.href, { host: url.host, path: url.pathname, version });
    if (assets.size >= MAX_ASSETS) break;
  }
  return [...assets.values()];
}
