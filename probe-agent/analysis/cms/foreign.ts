import type { Asset } from "#probe-agent/analysis/cms/assets.ts";
import { isSameSite } from "#probe-agent/analysis/same-site.ts";
import type { Technology } from "#probe-agent/analysis/tech/technology.ts";

/** Confidence of a system that shows in nothing but what other sites uploaded to theirs, percent. */
const FOREIGN = 30;

/**
 * A system less sure where nothing but pictures of other sites shows it: a page that embeds one from somebody's WordPress
 * is none itself. Only WordPress's addresses are known well enough for that.
 */
export function lessForeign(system: Technology, assets: readonly Asset[], pageUrl: string): Technology {
  const { hostname } = new URL(pageUrl);
  const own = system.slug === "wordpress" ? assets.filter(({ path }) => /\/wp-(?:content|includes)\//.test(path)) : [];
  const foreign =
    own.length > 0 &&
    system.evidence.every(({ type }) => type === "dom") &&
    own.every(({ host, path }) => path.includes("/wp-content/uploads/") && !isSameSite(hostOf(host), hostname));
  return foreign ? { ...system, confidence: Math.min(FOREIGN, system.confidence) } : system;
}

function hostOf(host: string): string {
  return host.replace(/:\d+$/, "");
}
