import { addressOf, interfaces, nodeOf, type Family, type Interface } from "#test/lab/addresses.ts";
import type { Topology } from "#test/lab/topology.ts";

/** One entry of a node's routing table. */
export interface Route {
  readonly node: string;
  /** CIDR, or "default". */
  readonly destination: string;
  readonly family: Family;
  /** Addresses of the neighbours. Several are equal paths. */
  readonly via: readonly string[];
}

interface Step {
  readonly from: Interface;
  readonly to: Interface;
}

/**
 * Returns every route except the connected ones: a default route for hosts, and for routers all networks by the fewest
 * hops.
 */
export function routes(topology: Topology): readonly Route[] {
  const all = interfaces(topology);
  const networks = new Map(all.map((entry) => [networkKey(entry), entry]));
  return Object.entries(topology.nodes).flatMap(([node, { kind }]) => {
    const own = new Set(all.filter((entry) => entry.node === node).map(networkKey));
    const ways =
      kind === "host"
        ? [{ destination: () => "default", steps: stepsFrom(topology, node).slice(0, 1) }]
        : [...networks.entries()]
            .filter(([key]) => !own.has(key))
            .map(([key, entry]) => ({
              destination: (family: Family) => cidr(entry, family),
              steps: nextSteps(topology, node, (at) => all.some((it) => it.node === at && networkKey(it) === key)),
            }));
    return ways.flatMap(({ destination, steps }) =>
      ([4, 6] as const).map((family) => ({
        node,
        family,
        destination: destination(family),
        via: steps.map(({ to }) => to.ip[family]),
      })),
    );
  });
}

/** Returns one path from node to node. If paths are equal, returns the first in the table's order. */
export function pathOf(topology: Topology, from: string, to: string): readonly Step[] {
  const goal = nodeOf(topology, to);
  const steps: Step[] = [];
  for (let at = from; at !== goal;) {
    const [step] = nextSteps(topology, at, (node) => node === goal);
    if (step === undefined) throw new Error(`the lab has no way from ${from} to ${to}`);
    steps.push(step);
    at = step.to.node;
  }
  return steps;
}

/** Limits of a round trip according to the table, in milliseconds: without jitter, and with all of it. */
export interface ExpectedRtt {
  readonly min: number;
  readonly max: number;
}

/** Returns the expected round trip of an echo whose IP packet has `bytes` octets (default: 56 of payload over IPv4). */
export function expectedRtt(topology: Topology, from: string, to: string, bytes = 84): ExpectedRtt {
  let [min, max] = [0, 0];
  for (const { from: near } of pathOf(topology, from, to)) {
    if (near.network.kind === "lan") continue;
    const { delayMs = 0, jitterMs = 0, rate } = topology.wans[near.network.name] ?? {};
    const oneWay = delayMs + (rate === undefined ? 0 : (bytes * 8_000) / rate);
    min += 2 * oneWay;
    max += 2 * (oneWay + jitterMs);
  }
  return { min, max };
}

/**
 * Returns the addresses that may answer at each hop, the target's own last; none if the router is silent. A router
 * answers with the address of the interface a packet came in by (IPv4) or of the one towards the sender (IPv6), which
 * differ only where equal paths meet.
 */
export function expectedHops(topology: Topology, from: string, to: string, family: Family = 4): readonly string[][] {
  const goal = nodeOf(topology, to);
  const hops: string[][] = [];
  let front = stepsFrom(topology, from).filter(({ to: next }) => isOnWay(topology, from, next.node, goal));
  while (front.length > 0) {
    const arrived = front.some((step) => step.to.node === goal);
    hops.push(
      arrived
        ? [addressOf(topology, to, family)]
        : unique(front.flatMap(({ to: entry }) => answers(topology, entry, from, family))),
    );
    if (arrived) break;
    const next = unique(front.map((step) => step.to.node)).flatMap((node) =>
      nextSteps(topology, node, (at) => at === goal),
    );
    front = next;
  }
  return hops;
}

function answers(topology: Topology, entry: Interface, towards: string, family: Family): string[] {
  if (topology.nodes[entry.node]?.silent === true) return [];
  if (family === 4) return [entry.ip[4]];
  return nextSteps(topology, entry.node, (node) => node === towards).map(({ from }) => from.ip[6]);
}

function isOnWay(topology: Topology, from: string, next: string, goal: string): boolean {
  return nextSteps(topology, from, (node) => node === goal).some((step) => step.to.node === next);
}

/** Returns the first steps of all shortest paths from `node` to a node for which `arrived` is true. */
function nextSteps(topology: Topology, node: string, arrived: (node: string) => boolean): readonly Step[] {
  const distance = (start: string): number => {
    const seen = new Set([node, start]);
    for (let [front, far] = [[start], 0]; front.length > 0; far += 1) {
      if (front.some(arrived)) return far;
      front = unique(
        front.filter((at) => topology.nodes[at]?.kind === "router").flatMap((at) => neighbours(topology, at)),
      ).filter((at) => !seen.has(at));
      for (const at of front) seen.add(at);
    }
    return Infinity;
  };
  const ways = stepsFrom(topology, node).map((step) => ({ step, far: distance(step.to.node) }));
  const least = Math.min(...ways.map(({ far }) => far));
  return least === Infinity ? [] : ways.filter(({ far }) => far === least).map(({ step }) => step);
}

const steps = new WeakMap<Topology, ReadonlyMap<string, readonly Step[]>>();

function stepsFrom(topology: Topology, node: string): readonly Step[] {
  let known = steps.get(topology);
  if (known === undefined) {
    const all = interfaces(topology);
    known = new Map(
      Object.keys(topology.nodes).map((name) => [
        name,
        all
          .filter((from) => from.node === name)
          .flatMap((from) =>
            all.filter((to) => to.node !== name && networkKey(to) === networkKey(from)).map((to) => ({ from, to })),
          ),
      ]),
    );
    steps.set(topology, known);
  }
  return known.get(node) ?? [];
}

function neighbours(topology: Topology, node: string): string[] {
  return stepsFrom(topology, node).map(({ to }) => to.node);
}

function networkKey({ network }: Interface): string {
  return `${network.kind} ${network.name}`;
}

function cidr({ ip, prefixLength }: Interface, family: Family): string {
  return family === 4
    ? `${ip[4].replace(/\d+$/, "0")}/${prefixLength[4]}`
    : `${ip[6].replace(/[^:]+$/, "")}/${prefixLength[6]}`;
}

function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
