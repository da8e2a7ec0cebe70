import { resolveAddress } from "#probe-agent/analysis/http/address.ts";
import { walkElements } from "#probe-agent/analysis/html/document.ts";
import { attribute, INERT_ELEMENTS, metaContent } from "#probe-agent/analysis/html/page.ts";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import { parsePixels } from "#probe-agent/analysis/page/social/pixels.ts";
import { faviconOf } from "#probe-agent/analysis/page/social/icons.ts";
import { storable } from "#probe-agent/analysis/page/structured/excerpt.ts";

/** Contents of a page that previews use if it has no social tags. */
export interface Fallback {
  readonly title: string | null;
  readonly description: string | null;
  readonly image: string | null;
  readonly favicon: string | null;
}

/** Minimum declared width and height of a big image, in pixels. Facebook ignores smaller images. */
const BIG = 200;
const MAX_TEXT = 1000;

/** Reads the title, the description, the first big image and the icon of a page. `base` resolves addresses. */
export function readFallback(page: Page, base: string): Fallback {
  const { facts } = page;
  return {
    title: nonEmptyText(facts.title),
    description: nonEmptyText(metaContent(facts, "description")),
    image: firstImage(page, base),
    favicon: faviconOf(facts, base),
  };
}

/** Returns the first image with a big declared size, otherwise the first image without a declared size, or null. */
function firstImage({ document }: Page, base: string): string | null {
  let unsized: string | null = null;
  for (const element of walkElements(document.root, INERT_ELEMENTS)) {
    if (element.name !== "img") continue;
    const source = attribute(element, "src") ?? "";
    const url = source === "" ? null : resolveAddress(source, base);
    if (url === null || !/^https?:/.test(url)) continue;
    const [width, height] = [parsePixels(attribute(element, "width")), parsePixels(attribute(element, "height"))];
    if (width !== null && height !== null && width >= BIG && height >= BIG) return url;
    if (width === null && height === null) unsized ??= url;
  }
  return unsized;
}

function nonEmptyText(text: string | null): string | null {
  return text === null || text === "" ? null : storable(text, MAX_TEXT);
}
