import { resolveAddress } from "#probe-agent/analysis/http/address.ts";
import type { PageFacts } from "#probe-agent/analysis/html/page.ts";

/** Returns the resolved address of the icon that a page declares, or null (browsers then request /favicon.ico). */
export function faviconOf({ links }: PageFacts, base: string): string | null {
  const icons = links.filter(({ rel, href }) => rel.includes("icon") && href !== null && href !== "");
  for (const { href } of icons) {
    const url = resolveAddress(href ?? "", base);
    if (url !== null) return url;
  }
  return null;
}
