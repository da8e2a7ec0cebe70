import { ok } from "#shared/contracts/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { cms as contract } from "#shared/tools/cms/contract.ts";
import type { Asset } from "#probe-agent/analysis/page/cms-assets.ts";
import { chooseSystems, isHeadless, lowerForeignConfidence } from "#probe-agent/tools/cms/choose.ts";
import { findParts, type SystemPart } from "#probe-agent/analysis/page/cms-parts.ts";
import { cpeWithVersion, type Technology } from "#probe-agent/analysis/page/tech/technology.ts";
import { fingerprint } from "#probe-agent/sources/fingerprint.ts";
import { fetchPage } from "#probe-agent/sources/page.ts";
import { implement } from "#probe-agent/tools/implement.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";
import { knownFiles, systemFolder } from "#probe-agent/tools/cms/files.ts";
import { unknown } from "#probe-agent/analysis/text/unknown-fact.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { fetchSiteFile } from "#probe-agent/sources/site-file.ts";

type Plugins = ResultOf<typeof contract>["plugins"];

/** Minimum confidence of a detected system, in percent. */
const ENOUGH = 50;
/** Maximum time to fetch the page, in milliseconds. Leaves time to analyse it. */
const PAGE_MS = 15_000;
const MAX_CANDIDATES = 10;
const MAX_PLUGINS = 100;

/** A system and the facts from its well-known files. */
interface Confirmed {
  readonly system: Technology;
  /** Keys of the plugins that its files list. */
  readonly plugins: readonly string[];
  /** Whether at least one of its files was found. */
  readonly confirmed: boolean;
  /** Number of requested files. */
  readonly asked: number;
}

/** Maximum number of files, size of one file in bytes, time for all, and time kept for the result, in milliseconds. */
const MAX_FILES = 3;
const FILE_BYTES = 256 * 1024;
const FILES_MS = 6000;
const RESERVE_MS = 1000;

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

/** Fetches the well-known files of the most likely system. They can name a version that the page hides. */
async function confirmSystem(
  net: Net,
  system: Technology,
  assets: readonly Asset[],
  pageUrl: string,
): Promise<Confirmed> {
  const { origin, host } = new URL(pageUrl);
  const folder = systemFolder(system.slug, assets, host);
  const files = knownFiles(system.slug).slice(0, MAX_FILES);
  const budgetMs = Math.min(FILES_MS, net.remainingMs() - RESERVE_MS);
  const answers = await Promise.all(
    files.map(async (file) => {
      const fetched = await waitAtMost(
        budgetMs,
        fetchSiteFile(net, origin, `${folder}${file.path}`, FILE_BYTES),
        unknown("took too long"),
      );
      // A file of another site proves nothing about this site.
      const own = fetched.known && fetched.text !== null && new URL(fetched.url).origin === origin;
      const facts = own ? file.read(fetched.text ?? "") : null;
      return facts === null ? null : { ...facts, path: `${folder}${file.path}` };
    }),
  );
  const found = answers.filter((answer) => answer !== null);
  const evidence = found.map(({ path, match }) => ({ type: "path" as const, match: cleanMatch(`${path}: ${match}`) }));
  const version = mostExact([system.version, ...found.map((answer) => answer.version)]);
  return {
    system: {
      ...system,
      version,
      confidence: found.length > 0 ? 100 : system.confidence,
      evidence: [...system.evidence, ...evidence],
    },
    plugins: [...new Set(found.flatMap(({ plugins }) => plugins ?? []))],
    confirmed: found.length > 0,
    asked: files.length,
  };
}

function mostExact(versions: readonly (string | null)[]): string | null {
  return versions.reduce((best, one) => (one !== null && one.length > (best?.length ?? 0) ? one : best), null);
}

function cleanMatch(text: string): string {
  return text.replaceAll(/[\p{C}\s]+/gu, " ").slice(0, 160);
}
