import { suiteLanes } from "#probe-agent/analysis/tls/ssl/hellos.ts";
import { SUITES } from "#probe-agent/analysis/tls/ssl/suites.ts";
import { eliminate, joinEliminations, type Elimination } from "#probe-agent/tools/ssl/elimination.ts";
import type { Prober } from "#probe-agent/tools/ssl/prober.ts";
import { helloFor, type VersionSeen } from "#probe-agent/tools/ssl/versions.ts";

/** Maximum number of suites in a short hello. */
const SHORT = 25;

/** Lists the suites that a server accepts with one version: lanes in parallel, each by elimination. */
export async function listSuites(prober: Prober, seen: VersionSeen): Promise<readonly Elimination[]> {
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
export async function probePreference(
  prober: Prober,
  seen: VersionSeen,
  lanes: readonly Elimination[],
): Promise<Preference> {
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
