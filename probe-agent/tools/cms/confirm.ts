import { waitAtMost } from "#shared/time-limit.ts";
import { knownFiles, systemFolder } from "#probe-agent/analysis/page/cms/files.ts";
import type { Asset } from "#probe-agent/analysis/page/cms/assets.ts";
import type { Technology } from "#probe-agent/analysis/page/tech/technology.ts";
import { unknown } from "#probe-agent/analysis/text/unknown-fact.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { fetchSiteFile } from "#probe-agent/sources/site-file.ts";

/** A system and the facts from its well-known files. */
export interface Confirmed {
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

/** Fetches the well-known files of the most likely system. They can name a version that the page hides. */
export async function confirmSystem(
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
