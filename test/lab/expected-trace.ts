import type { PingResult } from "#shared/tools/ping/contract.ts";
import { aliases, interfaces, type Family } from "#test/lab/addresses.ts";
import { expectedHops } from "#test/lab/paths.ts";
import { SYSTEMS } from "#test/lab/services/zones.ts";
import { LAB } from "#test/lab/topology.ts";

/** One row of the table of traces. */
export interface TracedPath {
  readonly from: string;
  readonly to: string;
  readonly family: Family;
  readonly protocol: "icmp" | "udp" | "tcp";
}

/** Hosts behind a link that loses packets intentionally, so that their loss is real. */
export const LOSSY: ReadonlySet<string> = new Set(["lossy", "every"]);

const MTU = 1_500;
const STRAIT_MTU = LAB.wans["strait"]?.mtu ?? MTU;
const BEYOND_STRAIT = "far";
const EQUAL_HOP = 2;

/**
 * Returns what is wrong with a trace according to the topology: addresses, loss, names, systems, one path, MTU. Pure.
 */
export function traceProblems(path: TracedPath, result: PingResult): readonly string[] {
  const { from, to, family, protocol } = path;
  const { reached, path_mtu: mtu } = result;
  const expected = expectedHops(LAB, from, to, family);
  const hops = hopsToCheck(path, result.hops ?? []);
  const problems: string[] = [];
  if (reached !== true) problems.push("not reached");
  if (hops.length !== expected.length) problems.push(`${hops.length} hops, not ${expected.length}`);
  for (const [index, { replies, loss_percent: loss }] of hops.entries()) {
    const allowed = expected[index] ?? [];
    const answers = replies.filter(({ ip }) => ip !== null);
    const seen = [...new Set(answers.map(({ ip }) => ip ?? ""))];
    const isLossy = LOSSY.has(to) && index === expected.length - 1;
    if (allowed.length === 0 ? seen.length > 0 : seen.length !== 1 || !allowed.includes(seen[0] ?? "")) {
      problems.push(`hop ${index + 1} is ${seen.join()}, not one of ${allowed.join()}`);
    }
    if (!isLossy && loss !== (allowed.length === 0 ? 100 : 0)) problems.push(`hop ${index + 1} lost ${loss} %`);
    problems.push(...answers.flatMap((reply) => nameProblem(reply)));
  }
  if (isMixed(path, hops, expected)) problems.push("two equal paths are mixed");
  if (!LOSSY.has(to)) problems.push(...mtuProblem(path, mtu, expected));
  return problems.map((problem) => `${from} to ${to} by ${protocol} over IPv${family}: ${problem}`);
}

type Hop = NonNullable<PingResult["hops"]>[number];

/**
 * Returns the hops to check. If the link before the target loses every probe with the right TTL, one that went farther
 * shows the target after silence.
 */
export function hopsToCheck({ to }: TracedPath, hops: readonly Hop[]): readonly Hop[] {
  return LOSSY.has(to) ? hops.filter(({ replies }) => replies.some(({ ip }) => ip !== null)) : hops;
}

/**
 * Over IPv6 a router answers with its address towards the sender, which is either of two, whichever way the packet
 * came.
 */
function isMixed({ family }: TracedPath, hops: readonly Hop[], expected: readonly string[][]): boolean {
  const pair = [EQUAL_HOP, EQUAL_HOP + 1];
  if (family === 6 || pair.some((at) => expected[at]?.length !== 2)) return false;
  const [first, second] = pair.map((at) => expected[at]?.indexOf(hops[at]?.replies[0]?.ip ?? ""));
  return first !== second;
}

type Reply = Hop["replies"][number];

const NAMES = new Map(
  [...interfaces(LAB), ...aliases(LAB)].flatMap(({ ip, ptr }) => [[ip[4], ptr] as const, [ip[6], ptr] as const]),
);

function nameProblem({ ip, hostname, asn, as_name: name, country }: Reply): string[] {
  const system = SYSTEMS.find(({ prefix4, prefix6 }) =>
    [prefix4.replace(/(\.0)+\/\d+$/, "."), prefix6.replace(/::\/\d+$/, ":")].some((start) => ip?.startsWith(start)),
  );
  const said = [hostname, asn, name, country];
  const expected = [NAMES.get(ip ?? ""), system?.asn ?? null, system?.name ?? null, system?.country ?? null];
  return said.join() === expected.join() ? [] : [`${ip} is ${said.join()}, not ${expected.join()}`];
}

function mtuProblem({ to }: TracedPath, mtu: PingResult["path_mtu"], expected: readonly string[][]): string[] {
  const narrowHop = expected.findIndex((allowed) => allowed.length === 0) + 2;
  const isRight =
    to === BEYOND_STRAIT
      ? mtu?.bytes === STRAIT_MTU &&
        mtu.limited_by?.hop === narrowHop &&
        expected[narrowHop - 1]?.includes(mtu.limited_by.ip) === true
      : mtu?.bytes === MTU && mtu.limited_by === null;
  return isRight && mtu?.black_hole === false ? [] : [`MTU ${JSON.stringify(mtu)}`];
}
