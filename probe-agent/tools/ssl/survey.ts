import type { Configuration, SuitesSeen, GroupsSeen } from "#probe-agent/analysis/tls/ssl/configuration.ts";
import {
  VERSIONS,
  EXTENSION_RENEGOTIATION_INFO,
  suiteLanes,
  type Version,
} from "#probe-agent/analysis/tls/ssl/hellos.ts";
import { joinEliminations, type Elimination, eliminate } from "#probe-agent/tools/ssl/elimination.ts";
import type { Prober } from "#probe-agent/tools/ssl/prober.ts";
import { helloFor, probeVersion, type VersionSeen } from "#probe-agent/tools/ssl/versions.ts";
import { SIGNAL, suitesOf, SUITES } from "#probe-agent/analysis/tls/ssl/suites.ts";
import { OLD_GROUPS, TLS13_GROUPS } from "#probe-agent/analysis/tls/ssl/groups.ts";
import type { ClientHello } from "#probe-agent/port/tls.ts";

/** Two probers of one server, so that a long list of suites leaves connections for the other questions. */
interface Probers {
  readonly lists: Prober;
  readonly features: Prober;
}

/** A version with the suites that the server accepts. */
interface VersionSuites {
  readonly seen: VersionSeen;
  readonly suites: readonly number[];
}

const INAPPROPRIATE_FALLBACK_ALERT = 86;
/** Compression methods: DEFLATE (RFC 3749), LZS (RFC 3943), none. */
const COMPRESSIONS = [1, 64, 0];

const NO_GROUP = -1;

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

/** Reports whether the server compresses before it encrypts (CRIME, CVE-2012-4929); null if it did not answer. */
async function probeCompression(prober: Prober, { seen, suites }: VersionSuites): Promise<boolean | null> {
  const hello = helloFor(seen, prober.servername, suites);
  const answer = await prober.ask({ ...hello, compression: COMPRESSIONS });
  return answer.kind === "hello" ? answer.hello.compression !== 0 : null;
}

/** Reports whether the server supports RFC 5746, from its ServerHello up to TLS 1.2; null without a ServerHello. */
function supportsSecureRenegotiation({ seen }: VersionSuites): boolean | null {
  return seen.hello === null ? null : seen.hello.extensions.includes(EXTENSION_RENEGOTIATION_INFO);
}

/**
 * Reports whether the server refuses a client that signals a fallback to a lower version (RFC 7507); null if unknown.
 */
async function probeFallback(prober: Prober, { seen, suites }: VersionSuites): Promise<boolean | null> {
  const answer = await prober.ask(helloFor(seen, prober.servername, [...suites, SIGNAL.fallback]));
  if (answer.kind === "hello") return false;
  return answer.kind === "refused" && answer.alert === INAPPROPRIATE_FALLBACK_ALERT ? true : null;
}

/**
 * Returns the size in bits of the smallest Diffie-Hellman prime, for export suites and others; null if none was seen.
 */
async function probeSmallestPrime(prober: Prober, { seen, suites }: VersionSuites): Promise<number | null> {
  const ephemeral = suitesOf(suites).filter(({ kx }) => kx === "DHE");
  const kinds = [ephemeral.filter((suite) => suite.exportGrade), ephemeral.filter((suite) => !suite.exportGrade)];
  const sizes = await Promise.all(
    kinds.map(async (kind) => {
      if (kind.length === 0) return [];
      const codes = kind.map(({ code }) => code);
      const answer = await prober.ask(helloFor(seen, prober.servername, codes), true);
      return answer.kind === "hello" && answer.hello.primeBits !== null ? [answer.hello.primeBits] : [];
    }),
  );
  const seenSizes = sizes.flat();
  return seenSizes.length === 0 ? null : Math.min(...seenSizes);
}

/**
 * Lists the groups of TLS 1.3. For a hello without a key share, the server selects a group (RFC 8446 section 4.1.4).
 */
async function listTls13Groups(prober: Prober, seen: VersionSeen): Promise<GroupsSeen> {
  const suites = suiteLanes(seen.version).common.flat();
  const hello = helloFor(seen, prober.servername, suites);
  const question = {
    ask: (groups: readonly number[]) => prober.ask({ ...hello, groups, keyShares: [] }),
    choice: ({ group }: { group: number | null }) => group ?? NO_GROUP,
  };
  const lanes = await Promise.all(TLS13_GROUPS.map((lane) => eliminate(lane, question)));
  return combine(seen.version, lanes, []);
}

/**
 * Lists the groups of a version before TLS 1.3, where ServerKeyExchange contains the curve. Returns null without ECDHE
 * suites. The groups offered also limit the curve of the server's own EC key (RFC 8422 section 5.1.1). If the server
 * has no RSA key, every hello therefore offers `ownCurve` last, and that curve is found if the server chooses it.
 */
async function listOldGroups(
  prober: Prober,
  seen: VersionSeen,
  taken: readonly number[],
  ownCurve: number | null,
): Promise<GroupsSeen | null> {
  const ephemeral = suitesOf(taken).filter(({ kx, auth }) => kx === "ECDHE" && auth !== "PSK");
  if (ephemeral.length === 0) return null;
  const withoutEcKey = ephemeral.filter(({ auth }) => auth !== "ECDSA");
  const requiredCurve = withoutEcKey.length > 0 ? null : ownCurve;
  const suites = (withoutEcKey.length > 0 ? withoutEcKey : ephemeral).map(({ code }) => code);
  const hello: ClientHello = helloFor(seen, prober.servername, suites);
  let isChosen = false;
  const question = {
    ask: (left: readonly number[]) =>
      prober.ask({ ...hello, groups: requiredCurve === null ? left : [...left, requiredCurve] }, true),
    choice: ({ group }: { group: number | null }) => {
      if (group === null) return NO_GROUP;
      isChosen ||= group === requiredCurve;
      return group === requiredCurve ? null : group;
    },
  };
  const lanes = await Promise.all(
    OLD_GROUPS.map((lane) =>
      eliminate(
        lane.filter((group) => group !== requiredCurve),
        question,
      ),
    ),
  );
  return combine(seen.version, lanes, isChosen && requiredCurve !== null ? [requiredCurve] : []);
}

function combine(version: Version, lanes: readonly Elimination[], more: readonly number[]): GroupsSeen {
  const { taken, complete } = joinEliminations(lanes);
  return { version, codes: [...taken, ...more], complete };
}

/** Maximum number of suites in a short hello. */
const SHORT = 25;

/** Lists the suites that a server accepts with one version: lanes in parallel, each by elimination. */
async function listSuites(prober: Prober, seen: VersionSeen): Promise<readonly Elimination[]> {
  const { common, rare } = suiteLanes(seen.version);
  const lanes = [...common, rare].flatMap((lane) => (seen.short ? chunks(lane, SHORT) : [lane]));
  const question = {
    ask: (left: readonly number[]) => prober.ask(helloFor(seen, prober.servername, left)),
    choice: ({ version, suite }: { version: number; suite: number }) => (version === seen.version.wire ? suite : null),
  };
  return await Promise.all(lanes.map((lane) => eliminate(lane, question)));
}

/** Order of preference among suites. */
interface Preference {
  /** Whose order decides; null if unknown, or if there is only one suite. */
  readonly order: "server" | "client" | null;
  /** All suites in the server's order; null if the order is the client's or unknown. */
  readonly ranked: readonly number[] | null;
}

/** Maximum number of suites that are ranked. Each one costs a connection, one after the other. */
const MAX_RANKED = 40;
/** Time limit for ranking in milliseconds. */
const RANKING_MS = 2500;

/**
 * Finds the order of preference. Offers two suites in both orders. If the server's order decides, each lane is already
 * in that order, and the lanes are merged by offering their first entries.
 */
async function probePreference(prober: Prober, seen: VersionSeen, lanes: readonly Elimination[]): Promise<Preference> {
  const all = joinEliminations(lanes).taken;
  // Some servers prefer ChaCha20 only because the client does, regardless of their order.
  const steady = all.filter((code) => SUITES.get(code)?.cipher !== "CHACHA20_POLY1305");
  const [first, last] = steady.length > 1 ? [steady[0], steady.at(-1)] : [all[0], all.at(-1)];
  if (first === undefined || last === undefined || first === last) return { order: null, ranked: all };
  const pick = async (offered: readonly number[]): Promise<number | null> => {
    const answer = await prober.ask(helloFor(seen, prober.servername, offered));
    return answer.kind === "hello" && offered.includes(answer.hello.suite) ? answer.hello.suite : null;
  };
  const [forward, backward] = await Promise.all([pick([first, last]), pick([last, first])]);
  if (forward === null || backward === null) return { order: null, ranked: null };
  if (forward !== backward) return { order: "client", ranked: null };
  const limit = Math.min(MAX_RANKED, prober.within(RANKING_MS));
  return { order: "server", ranked: all.length > limit ? null : await mergeLanes(lanes, pick) };
}

/** Merges the lanes in the server's order. Returns null if the server does not answer. */
async function mergeLanes(
  lanes: readonly Elimination[],
  pick: (offered: readonly number[]) => Promise<number | null>,
): Promise<number[] | null> {
  const ranked: number[] = [];
  let queues = lanes.map(({ taken }) => [...taken]).filter(({ length }) => length > 0);
  while (queues.length > 1) {
    const heads = queues.flatMap(([head]) => head ?? []);
    const best = await pick(heads);
    if (best === null) return null;
    ranked.push(best);
    queues = queues.map((queue) => (queue[0] === best ? queue.slice(1) : queue)).filter(({ length }) => length > 0);
  }
  return [...ranked, ...queues.flat()];
}

function chunks(list: readonly number[], size: number): number[][] {
  const count = Math.ceil(list.length / size);
  return Array.from({ length: count }, (_, index) => list.slice(index * size, (index + 1) * size));
}
