import type { Configuration, SuitesSeen } from "#probe-agent/analysis/tls/ssl/configuration.ts";
import { VERSIONS } from "#probe-agent/analysis/tls/ssl/hellos.ts";
import { joinEliminations, type Elimination } from "#probe-agent/tools/ssl/elimination.ts";
import {
  supportsSecureRenegotiation,
  probeFallback,
  probeCompression,
  probeSmallestPrime,
  type VersionSuites,
} from "#probe-agent/tools/ssl/features.ts";
import { listOldGroups, listTls13Groups } from "#probe-agent/tools/ssl/groups.ts";
import type { Prober } from "#probe-agent/tools/ssl/prober.ts";
import { listSuites, probePreference } from "#probe-agent/tools/ssl/suites.ts";
import { helloFor, probeVersion, type VersionSeen } from "#probe-agent/tools/ssl/versions.ts";

/** Two probers of one server, so that a long list of suites leaves connections for the other questions. */
interface Probers {
  readonly lists: Prober;
  readonly features: Prober;
}

/**
 * Finds a server's configuration: versions, then suites and groups, then features. Questions of one stage are sent in
 * parallel. `ownCurve` is the group of the server's EC key; null for other keys.
 */
export async function surveyServer({ lists, features }: Probers, ownCurve: number | null): Promise<Configuration> {
  const versions = await Promise.all(VERSIONS.map((version) => probeVersion(lists, version)));
  const offered = versions.filter((seen) => seen.offered === true);
  const [listed, newGroups] = await Promise.all([
    Promise.all(offered.map(async (seen) => ({ seen, lanes: await listSuites(lists, seen) }))),
    Promise.all(offered.filter(isTls13).map((seen) => listTls13Groups(features, seen))),
  ]);
  const old = listed.flatMap(({ seen, lanes }) =>
    isTls13(seen) ? [] : [{ seen, suites: joinEliminations(lanes).taken }],
  );
  const newestOld = old.at(-1);
  const [suites, oldGroups, rest] = await Promise.all([
    Promise.all(listed.map(({ seen, lanes }) => rank(features, seen, lanes))),
    newestOld === undefined ? null : listOldGroups(features, newestOld.seen, newestOld.suites, ownCurve),
    probeFeatures(features, offered, old),
  ]);
  const lanes = listed.flatMap((one) => one.lanes);
  const stoppedAnswering = await hasStoppedAnswering(features, versions, lanes);
  return {
    // If the server stopped answering, an end of the connection was possibly not a refusal.
    versions: versions.map(({ version, offered: isOffered, abrupt }) => ({
      version,
      offered: stoppedAnswering && abrupt ? null : isOffered,
    })),
    suites: suites.map((one) => ({ ...one, complete: one.complete && !stoppedAnswering })),
    groups: [...newGroups, ...(oldGroups === null ? [] : [oldGroups])],
    ...rest,
    stoppedAnswering,
    connections: lists.spent() + features.spent(),
  };
}

function isTls13({ version }: VersionSeen): boolean {
  return version.name === "TLSv1.3";
}

async function rank(prober: Prober, seen: VersionSeen, lanes: readonly Elimination[]): Promise<SuitesSeen> {
  const { order, ranked } = await probePreference(prober, seen, lanes);
  const { taken, complete } = joinEliminations(lanes);
  return { version: seen.version, codes: ranked ?? taken, ranked: ranked !== null, order, complete };
}

/** Probes the features of versions before TLS 1.3. `old` contains these versions, oldest first. */
async function probeFeatures(
  prober: Prober,
  offered: readonly VersionSeen[],
  old: readonly VersionSuites[],
): Promise<Pick<Configuration, "primeBits" | "compression" | "secureRenegotiation" | "fallbackScsv">> {
  const newestOld = old.at(-1);
  const lower = old.findLast(({ seen }) => seen !== offered.at(-1));
  const [compression, fallbackScsv, primes] = await Promise.all([
    newestOld === undefined ? false : probeCompression(prober, newestOld),
    lower === undefined ? null : probeFallback(prober, lower),
    Promise.all(old.map((one) => probeSmallestPrime(prober, one))),
  ]);
  const sizes = primes.filter((size) => size !== null);
  return {
    compression,
    secureRenegotiation: newestOld === undefined ? null : supportsSecureRenegotiation(newestOld),
    fallbackScsv,
    primeBits: sizes.length === 0 ? null : Math.min(...sizes),
  };
}

/**
 * Reports whether the server no longer answers a hello that it answered before. Checks only if the end of a connection
 * was counted as a refusal.
 */
async function hasStoppedAnswering(
  prober: Prober,
  versions: readonly VersionSeen[],
  lanes: readonly Elimination[],
): Promise<boolean> {
  const known = versions.findLast(({ hello }) => hello !== null);
  const suite = known?.hello?.suite;
  const abrupt = versions.some((seen) => seen.abrupt) || lanes.some((lane) => lane.abrupt);
  if (known === undefined || suite === undefined || !abrupt) return false;
  return (await prober.ask(helloFor(known, prober.servername, [suite]))).kind !== "hello";
}
