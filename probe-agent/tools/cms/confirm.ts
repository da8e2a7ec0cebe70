import { waitAtMost } from "#shared/time-limit.ts";
import { knownFiles, systemFolder } from "#probe-agent/analysis/page/cms/files.ts";
import type { Asset } from "#probe-agent/analysis/page/cms/assets.ts";
import type { Technology } from "#probe-agent/analysis/page/tech/technology.ts";
import { unknown } from "#probe-agent/analysis/text/unknown-fact.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { fetchSiteFile } from "#probe-agent/sources/site-file.ts";

/** A system after its own files were asked for. */
export interface Confirmed {
  readonly system: Technology;
  /** Keys of plugins its own list names. */
  readonly plugins: readonly string[];
  /** Some file of it was found. */
  readonly confirmed: boolean;
  /** Files that were asked for. */
  readonly asked: number;
}

/** Files asked for at most, the octets of one, the time for all, and what is left for the answer. */
const MAX_FILES = 3;
const FILE_BYTES = 256 * 1024;
const FILES_MS = 6000;
const RESERVE_MS = 1000;

/** Asks for the well-known files of the likeliest system: they name a version the page may hide. */
export async function confirmSystem(
  net: Net,
  system: Technology,
  assets: readonly Asset[],
  pageUrl: string,
): Promise<Confirmed> {
  const { origin, host } = new URL(pageUrl);
  const folder = systemFolder(system.slug, assets, host);
  const files = knownFiles(system.slug).slice(0, MAX_FILES);
  const patience = Math.min(FILES_MS, net.remainingMs() - RESERVE_MS);
  const answers = await Promise.all(
    files.map(async (file) => {
      const fetched = await waitAtMost(
        patience,
        fetchSiteFile(net, origin, `${folder}${file.path}`, FILE_BYTES),
        unknown("took too long"),
      );
      // Another site's file proves nothing about this one.
      const own = fetched.known && fetched.text !== null && new URL(fetched.url).origin === origin;
      const says = own ? file.read(fetched.text ?? "") : null;
      return says === null ? null : { ...says, path: `${folder}${file.path}` };
    }),
  );
  const found = answers.filter((answer) => answer !== null);
  const evidence = found.map(({ path, match }) => ({ type: "path" as const, match: shown(`${path}: ${match}`) }));
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

function shown(text: string): string {
  return text.replaceAll(/[\p{C}\s]+/gu, " ").slice(0, 160);
}
