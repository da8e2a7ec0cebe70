import { suiteLanes } from "#probe-agent/analysis/tls/ssl/hellos.ts";
import { SUITES } from "#probe-agent/analysis/tls/ssl/suites.ts";
import { eliminate, joined, type Elimination } from "#probe-agent/tools/ssl/elimination.ts";
import type { Prober } from "#probe-agent/tools/ssl/prober.ts";
import { helloFor, type VersionSeen } from "#probe-agent/tools/ssl/versions.ts";

/** Suites in a hello that has to stay short. */
const SHORT = 25;

/** The suites a server takes with one version: lanes side by side, each by elimination. */
export async function listSuites(prober: Prober, seen: VersionSeen): Promise<readonly Elimination[]> {
  const { common, rare } = suiteLanes(seen.version);
  const lanes = [...common, rare].flatMap((lane) => (seen.short ? chunks(lane, SHORT) : [lane]));
  const question = {
    ask: (left: readonly number[]) => prober.ask(helloFor(seen, prober.servername, left)),
    choice: ({ version, suite }: { version: number; suite: number }) => (version === seen.version.wire ? suite : null),
  };
  return await Promise.all(lanes.map((lane) => eliminate(lane, question)));
}

/** The order of preference, as far as it is the server's. */
interface Preference {
  readonly order: "server" | "client" | null;
  /** All suites, the server's favourite first; null where the order is the client's or was not told. */
  readonly ranked: readonly number[] | null;
}

/** Longer orders are not found out: each suite costs a connection, one after the other. */
const MAX_RANKED = 40;
const RANKING_MS = 2500;

/**
 * Asks for two suites in both orders. Where the server has an order of its own, the lanes, each in that order by
 * itself, are merged by asking for their heads.
 */
export async function seePreference(
  prober: Prober,
  seen: VersionSeen,
  lanes: readonly Elimination[],
): Promise<Preference> {
  const all = joined(lanes).taken;
  // Servers may put ChaCha20 first just because the client does, whatever their order.
  const steady = all.filter((code) => SUITES.get(code)?.cipher !== "CHACHA20_POLY1305");
  const [first, last] = steady.length > 1 ? [steady[0], steady.at(-1)] : [all[0], all.at(-1)];
  if (first === undefined || last === undefined || first === last) return { order: null, ranked: all };
  const pick = async (offered: readonly number[]): Promise<number | null> => {
    const answer = await prober.ask(helloFor(seen, prober.servername, offered));
    return answer.kind === "hello" && offered.includes(answer.hello.suite) ? answer.hello.suite : null;
  };
  const [forth, back] = await Promise.all([pick([first, last]), pick([last, first])]);
  if (forth === null || back === null) return { order: null, ranked: null };
  if (forth !== back) return { order: "client", ranked: null };
  const affordable = Math.min(MAX_RANKED, prober.within(RANKING_MS));
  return { order: "server", ranked: all.length > affordable ? null : await merge(lanes, pick) };
}

async function merge(
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
