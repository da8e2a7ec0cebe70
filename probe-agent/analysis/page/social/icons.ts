import { resolveAddress } from "#probe-agent/analysis/http/address.ts";
import type { PageFacts } from "#probe-agent/analysis/html/page.ts";

/** The icon a page declares, resolved; null without one (browsers then ask for /favicon.ico). */
export function faviconOf({ links }: PageFacts, base: string): string | null {
  const icons = links.filter(({ rel, href }) => rel.includes("icon") && href !== null && href !== "");
  for (const { href } of icons) {
    const url = resolveAddress(href ?? "", base);
    if (url !== null) return url;
  }
  return null;
}
