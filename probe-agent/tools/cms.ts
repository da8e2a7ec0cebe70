import { ok } from "#shared/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { cms as contract } from "#shared/tools/cms.ts";
import type { Asset } from "#probe-agent/analysis/page/cms/assets.ts";
import { chooseSystems, isHeadless } from "#probe-agent/analysis/page/cms/choose.ts";
import { lessForeign } from "#probe-agent/analysis/page/cms/foreign.ts";
import { findParts, type SystemPart } from "#probe-agent/analysis/page/cms/parts.ts";
import { cpeWithVersion, type Technology } from "#probe-agent/analysis/page/tech/technology.ts";
import { fingerprint } from "#probe-agent/sources/fingerprint.ts";
import { seePage } from "#probe-agent/sources/page.ts";
import { confirmSystem, type Confirmed } from "#probe-agent/tools/cms/confirm.ts";
import { implement } from "#probe-agent/tools/implement.ts";

type Plugins = ResultOf<typeof contract>["plugins"];

/** From here on a system counts as recognised, percent. */
const ENOUGH = 50;
/** For the page itself, so that there is time left to look at it. */
const PAGE_MS = 15_000;
const MAX_CANDIDATES = 10;
const MAX_PLUGINS = 100;

/** The page's technologies first; then the likeliest system's own files, for what its pages do not say. */
export const cms = implement(contract, async (net, { url }) => {
  const seen = await seePage(net, url, { timeoutMs: PAGE_MS });
  if (seen.status !== "ok") return seen;
  const { head, observedAt } = seen.data;
  const found = await fingerprint(net, seen.data, { withSystem: true });
  if (found.status !== "ok") return found;
  const { technologies, system: shownSystem } = found.data;
  const { assets, shopifyTheme } = shownSystem ?? { assets: [], shopifyTheme: null };
  const chosen = chooseSystems(technologies);
  const { pageBuilders, ecommerce, hosting, frontEnd } = chosen;
  // A front end may well draw on the system whose pictures it shows.
  const systems = frontEnd
    ? chosen.systems
    : chooseSystems(technologies.map((one) => lessForeign(one, assets, head.final_url))).systems;
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
            ...shown(system),
            headless: isHeadless(system.slug) || (frontEnd && isElsewhere(system, assets, head.final_url)),
          },
    candidates: rest.slice(0, MAX_CANDIDATES).map(shown),
    theme,
    plugins: allPlugins(parts.plugins, confirmed?.plugins ?? []),
    page_builders: pageBuilders.filter((name) => name !== system?.name),
    ecommerce,
    hosting: [...hosting],
    latest_version: null,
    source: ["page", ...found.data.sources, ...(confirmed?.confirmed === true ? ["well_known_files"] : [])],
    observed_at: observedAt,
    limitations: [...found.data.limitations, ...sentences(system, confirmed)],
  });
});

function shown({ name, slug, version, confidence, evidence, website, cpe }: Technology) {
  return { name, slug, version, confidence, evidence, website, cpe: cpeWithVersion(cpe, version) };
}

/** Whether the system's files come from other hosts alone, as those of a system that another program draws on do. */
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

function sentences(system: Technology | null, confirmed: Confirmed | null): string[] {
  if (system === null) return ["No system shows clearly: one that serves plain pages leaves no trace in them."];
  return [
    "Which version is the newest is not known: no list of releases is at hand.",
    ...(system.version === null ? ["The site does not show the version of the system."] : []),
    ...(confirmed !== null && confirmed.asked > 0 && !confirmed.confirmed
      ? ["None of the system's well-known files could be read."]
      : []),
  ];
}
