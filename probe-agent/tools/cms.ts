import { ok } from "#shared/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { cms as contract } from "#shared/tools/cms.ts";
import type { Asset } from "#probe-agent/analysis/page/cms/assets.ts";
import { chooseSystems, isHeadless } from "#probe-agent/analysis/page/cms/choose.ts";
import { lowerForeignConfidence } from "#probe-agent/analysis/page/cms/foreign.ts";
import { findParts, type SystemPart } from "#probe-agent/analysis/page/cms/parts.ts";
import { cpeWithVersion, type Technology } from "#probe-agent/analysis/page/tech/technology.ts";
import { fingerprint } from "#probe-agent/sources/fingerprint.ts";
import { fetchPage } from "#probe-agent/sources/page.ts";
import { confirmSystem, type Confirmed } from "#probe-agent/tools/cms/confirm.ts";
import { implement } from "#probe-agent/tools/implement.ts";

type Plugins = ResultOf<typeof contract>["plugins"];

/** Minimum confidence of a detected system, in percent. */
const ENOUGH = 50;
/** Maximum time to fetch the page, in milliseconds. Leaves time to analyse it. */
const PAGE_MS = 15_000;
const MAX_CANDIDATES = 10;
const MAX_PLUGINS = 100;

/**
 * Detects the system of a site. First finds the page's technologies, then fetches well-known files of the most likely
 * system, which can reveal what its pages do not.
 */
export const cms = implement(contract, async (net, { url }) => {
  const seen = await fetchPage(net, url, { timeoutMs: PAGE_MS });
  if (seen.status !== "ok") return seen;
  const { head, observedAt } = seen.data;
  const found = await fingerprint(net, seen.data, { withSystem: true });
  if (found.status !== "ok") return found;
  const { technologies, system: facts } = found.data;
  const { assets, shopifyTheme } = facts ?? { assets: [], shopifyTheme: null };
  const chosen = chooseSystems(technologies);
  const { pageBuilders, ecommerce, hosting, frontEnd } = chosen;
  // A front end can get its content from the system whose images it shows.
  const systems = frontEnd
    ? chosen.systems
    : chooseSystems(technologies.map((one) => lowerForeignConfidence(one, assets, head.final_url))).systems;
  const [best, ...others] = systems;
  const confirmed = best === undefined ? null : await confirmSystem(net, best, assets, head.final_url);
  const system = confirmed !== null && confirmed.system.confidence >= ENOUGH ? confirmed.system : null;
  const parts = system === null ? { theme: null, plugins: [] } : findParts(system.slug, assets, system.version);
  const theme = system?.slug === "shopify" ? shopifyTheme : parts.theme;
  const rest = system === null ? systems : others;
  return ok({
    ...head,
    detected: system !== null,
    cms:
      system === null
        ? null
        : {
            ...describeSystem(system),
            headless: isHeadless(system.slug) || (frontEnd && isElsewhere(system, assets, head.final_url)),
          },
    candidates: rest.slice(0, MAX_CANDIDATES).map(describeSystem),
    theme,
    plugins: allPlugins(parts.plugins, confirmed?.plugins ?? []),
    page_builders: pageBuilders.filter((name) => name !== system?.name),
    ecommerce,
    hosting: [...hosting],
    latest_version: null,
    source: ["page", ...found.data.sources, ...(confirmed?.confirmed === true ? ["well_known_files"] : [])],
    observed_at: observedAt,
    limitations: [...found.data.limitations, ...describeLimitations(system, confirmed)],
  });
});

function describeSystem({ name, slug, version, confidence, evidence, website, cpe }: Technology) {
  return { name, slug, version, confidence, evidence, website, cpe: cpeWithVersion(cpe, version) };
}

/** Reports whether all files of the system are on other hosts, as if it only provides content to another program. */
function isElsewhere({ slug, evidence }: Technology, assets: readonly Asset[], pageUrl: string): boolean {
  const { host } = new URL(pageUrl);
  const own = slug === "wordpress" ? assets.filter(({ path }) => path.includes("/wp-content/")) : [];
  const named = evidence.some(({ type }) => type === "meta" || type === "header" || type === "path");
  return own.length > 0 && !named && own.every((asset) => asset.host !== host);
}

function allPlugins(seen: readonly SystemPart[], listed: readonly string[]): Plugins {
  const known = new Set(seen.map(({ name }) => name));
  const all = [
    ...seen.map((part) => ({ ...part, source: "assets" as const })),
    ...listed.filter((name) => !known.has(name)).map((name) => ({ name, version: null, source: "rest_api" as const })),
  ];
  return all.toSorted((one, other) => (one.name < other.name ? -1 : 1)).slice(0, MAX_PLUGINS);
}

function describeLimitations(system: Technology | null, confirmed: Confirmed | null): string[] {
  if (system === null) return ["No system was detected. A system that serves plain pages leaves no trace in them."];
  return [
    "The newest version of the system is unknown, because no list of releases is available.",
    ...(system.version === null ? ["The site does not reveal the version of the system."] : []),
    ...(confirmed !== null && confirmed.asked > 0 && !confirmed.confirmed
      ? ["None of the system's well-known files could be read."]
      : []),
  ];
}
