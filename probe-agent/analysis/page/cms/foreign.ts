import type { Asset } from "#probe-agent/analysis/page/cms/assets.ts";
import { isSameSite } from "#probe-agent/analysis/http/same-site.ts";
import type { Technology } from "#probe-agent/analysis/page/tech/technology.ts";

/** Maximum confidence of a system whose only evidence is images of other sites, in percent. */
const FOREIGN = 30;
/** Paths at which systems store uploaded images, which other sites can embed. */
const UPLOADS = new Map([
  ["adobe-experience-manager", /\/content\/dam\//],
  ["drupal", /\/sites\/default\/files\//],
  ["sitecore", /\/[-~]\/media\//],
  ["typo3", /\/fileadmin\/_processed_\//],
  ["wordpress", /\/wp-content\//],
]);
/** Scripts and style sheets. They belong to the page's own system, on whichever host they are. */
const PROGRAM = /\.(?:css|js|mjs)$/i;

/**
 * Lowers a system's confidence if its only evidence is images of other sites. A page that embeds an image from another
 * site's WordPress does not itself run WordPress.
 */
export function lowerForeignConfidence(system: Technology, assets: readonly Asset[], pageUrl: string): Technology {
  const uploads = UPLOADS.get(system.slug);
  const byPictures = system.evidence.every(({ type, match }) => type === "dom" && match.includes("img[src"));
  if (uploads === undefined || !byPictures) return system;
  const { hostname } = new URL(pageUrl);
  const shown = assets.filter(({ path }) => uploads.test(path));
  const foreign = shown.every(({ host, path }) => !PROGRAM.test(path) && !isSameSite(hostOf(host), hostname));
  return foreign && shown.length > 0 ? { ...system, confidence: Math.min(FOREIGN, system.confidence) } : system;
}

function hostOf(host: string): string {
  return host.replace(/:\d+$/, "");
}
