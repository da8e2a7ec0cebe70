import type { Asset } from "#probe-agent/analysis/page/cms/assets.ts";
import { isSameSite } from "#probe-agent/analysis/http/same-site.ts";
import type { Technology } from "#probe-agent/analysis/page/tech/technology.ts";

/** Confidence of a system that shows in nothing but pictures of other sites, percent. */
const FOREIGN = 30;
/** Where systems keep the pictures that others embed. */
const UPLOADS = new Map([
  ["adobe-experience-manager", /\/content\/dam\//],
  ["drupal", /\/sites\/default\/files\//],
  ["sitecore", /\/[-~]\/media\//],
  ["typo3", /\/fileadmin\/_processed_\//],
  ["wordpress", /\/wp-content\//],
]);
/** Themes and programs of a page belong to its own system, wherever they lie. */
const PROGRAM = /\.(?:css|js|mjs)$/i;

/**
 * A system less sure where nothing but pictures of other sites shows it: a page that embeds one from somebody's WordPress
 * is none itself.
 */
export function lessForeign(system: Technology, assets: readonly Asset[], pageUrl: string): Technology {
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
