import type { Configuration, SuitesSeen } from "#probe-agent/analysis/tls/ssl/configuration.ts";
import { VERSIONS } from "#probe-agent/analysis/tls/ssl/hellos.ts";
import { joined, type Elimination } from "#probe-agent/tools/ssl/elimination.ts";
import {
  knowsSecureRenegotiation,
  refusesFallback,
  seesCompression,
  smallestPrime,
  type VersionSuites,
} from "#probe-agent/tools/ssl/features.ts";
import { groupsOfOldVersion, groupsOfTls13 } from "#probe-agent/tools/ssl/groups.ts";
import type { Prober } from "#probe-agent/tools/ssl/prober.ts";
import { listSuites, seePreference } from "#probe-agent/tools/ssl/suites.ts";
import { helloFor, seeVersion, type VersionSeen } from "#probe-agent/tools/ssl/versions.ts";

/** Two probers of one server, so that a long list of suites leaves room for the other questions. */
interface Probers {
  readonly lists: Prober;
  readonly features: Prober;
}

/** Versions, then suites and groups, then what follows from them; each stage as parallel as the port allows. */
export async function survey({ lists, features }: Probers, ownCurve: number | null): Promise<Configuration> {
  const versions = await Promise.all(VERSIONS.map((version) => seeVersion(lists, version)));
  const offered = versions.filter((seen) => seen.offered === true);
  const [listed, newGroups] = await Promise.all([
    Promise.all(offered.map(async (seen) => ({ seen, lanes: await listSuites(lists, seen) }))),
    Promise.all(offered.filter(isTls13).map((seen) => groupsOfTls13(features, seen))),
  ]);
  const old = listed.flatMap(({ seen, lanes }) => (isTls13(seen) ? [] : [{ seen, suites: joined(lanes).taken }]));
  const newestOld = old.at(-1);
  const [suites, oldGroups, rest] = await Promise.all([
    Promise.all(listed.map(({ seen, lanes }) => rank(features, seen, lanes))),
    newestOld === undefined ? null : groupsOfOldVersion(features, newestOld.seen, newestOld.suites, ownCurve),
    seeFeatures(features, offered, old),
  ]);
  const lanes = listed.flatMap((one) => one.lanes);
  const stoppedAnswering = await hasStoppedAnswering(features, versions, lanes);
  return {
    // What looked like a refusal then may have been weariness.
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
  const { order, ranked } = await seePreference(prober, seen, lanes);
  const { taken, complete } = joined(lanes);
  return { version: seen.version, codes: ranked ?? taken, ranked: ranked !== null, order, complete };
}

/** `old`: versions before TLS 1.3, oldest first. */
async function seeFeatures(
  prober: Prober,
  offered: readonly VersionSeen[],
  old: readonly VersionSuites[],
): Promise<Pick<Configuration, "primeBits" | "compression" | "secureRenegotiation" | "fallbackScsv">> {
  const newestOld = old.at(-1);
  const lower = old.findLast(({ seen }) => seen !== offered.at(-1));
  const [compression, fallbackScsv, primes] = await Promise.all([
    newestOld === undefined ? false : seesCompression(prober, newestOld),
    lower === undefined ? null : refusesFallback(prober, lower),
    Promise.all(old.map((one) => smallestPrime(prober, one))),
  ]);
  const sizes = primes.filter((size) => size !== null);
  return {
    compression,
    secureRenegotiation: newestOld === undefined ? null : knowsSecureRenegotiation(newestOld),
    fallbackScsv,
    primeBits: sizes.length === 0 ? null : Math.min(...sizes),
  };
}

/** Where the end of a connection counted as a refusal: is a hello still answered that was answered before? */
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
