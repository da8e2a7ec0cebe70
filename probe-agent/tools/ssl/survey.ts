import { VERSIONS, type Version } from "#probe-agent/analysis/ssl/hellos.ts";
import { joined, type Elimination } from "#probe-agent/tools/ssl/elimination.ts";
import {
  knowsSecureRenegotiation,
  refusesFallback,
  seesCompression,
  smallestPrime,
  type VersionSuites,
} from "#probe-agent/tools/ssl/features.ts";
import { groupsOfOldVersion, groupsOfTls13, type GroupsSeen } from "#probe-agent/tools/ssl/groups.ts";
import type { Prober } from "#probe-agent/tools/ssl/prober.ts";
import { listSuites, seePreference } from "#probe-agent/tools/ssl/suites.ts";
import { helloFor, seeVersion, type VersionSeen } from "#probe-agent/tools/ssl/versions.ts";

/** Suites of one version. */
export interface SuitesSeen {
  readonly version: Version;
  /** The server's favourite first where `ranked`. */
  readonly suites: readonly number[];
  readonly ranked: boolean;
  readonly order: "server" | "client" | null;
  readonly complete: boolean;
}

/** All that ClientHellos brought to light. */
export interface Survey {
  readonly versions: readonly VersionSeen[];
  readonly suites: readonly SuitesSeen[];
  readonly groups: readonly GroupsSeen[];
  readonly primeBits: number | null;
  /** Null where it could not be told. */
  readonly compression: boolean | null;
  /** Null where there is nothing to renegotiate or it could not be told. */
  readonly secureRenegotiation: boolean | null;
  /** Null where there is no lower version to fall back to, or it could not be told. */
  readonly fallbackScsv: boolean | null;
  /** The server ended connections without a word, and at the end did so for a hello it had answered before. */
  readonly fedUp: boolean;
}

/** Two probers of one server, so that a long list of suites leaves room for the other questions. */
export interface Probers {
  readonly lists: Prober;
  readonly features: Prober;
}

/** Versions, then suites and groups, then what follows from them; each stage as parallel as the port allows. */
export async function survey({ lists, features }: Probers, ownCurve: number | null): Promise<Survey> {
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
  return {
    versions,
    suites,
    groups: [...newGroups, ...(oldGroups === null ? [] : [oldGroups])],
    ...rest,
    fedUp: await isFedUp(
      features,
      versions,
      listed.flatMap(({ lanes }) => lanes),
    ),
  };
}

function isTls13({ version }: VersionSeen): boolean {
  return version.name === "TLSv1.3";
}

async function rank(prober: Prober, seen: VersionSeen, lanes: readonly Elimination[]): Promise<SuitesSeen> {
  const { order, ranked } = await seePreference(prober, seen, lanes);
  const { taken, complete } = joined(lanes);
  return { version: seen.version, suites: ranked ?? taken, ranked: ranked !== null, order, complete };
}

/** `old`: versions before TLS 1.3, oldest first. */
async function seeFeatures(
  prober: Prober,
  offered: readonly VersionSeen[],
  old: readonly VersionSuites[],
): Promise<Pick<Survey, "primeBits" | "compression" | "secureRenegotiation" | "fallbackScsv">> {
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
async function isFedUp(
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
