import type { Replica } from "#shared/protocol/probe.ts";
import { dialTarget } from "#shared/settings/address.ts";

/** One stream of this agent, dialling or standing. */
export interface Link {
  readonly address: string;
  /** null: not welcomed yet. */
  readonly replicaId: string | null;
  /** Jobs of this stream that run here. */
  readonly running: number;
}

/** Everything that decides whom to dial. */
export interface Situation<L extends Link> {
  /** VANTAGE_CONTROL_PLANE. */
  readonly configured: readonly string[];
  readonly links: readonly L[];
  /** Every live replica by the last word of any of them; null: none has said (a 1.0 hub never does). */
  readonly listed: readonly Replica[] | null;
  /** The replica an address led to the last time it led anywhere. */
  readonly ledTo: ReadonlyMap<string, string>;
}

/**
 * The addresses that a stream should be dialled at now; those still waiting out their back-off are left to the caller.
 *
 * 1. A configured address that has led nowhere yet, or to a replica there is no stream to.
 * 2. Every listed replica without a stream at the address it advertises.
 * 3. Where one advertises none: each configured address again, for a balancer leads elsewhere the next time.
 * 4. Without any stream: all replicas ever listed, since the configured one may be the one that is gone.
 */
export function addressesToDial({ configured, links, listed, ledTo }: Situation<Link>): string[] {
  const reached = new Set(links.flatMap(({ replicaId }) => replicaId ?? []));
  const dialling = new Set(links.filter(({ replicaId }) => replicaId === null).map(({ address }) => address));
  const missing = (listed ?? []).filter(({ id }) => !reached.has(id));
  const led = (address: string) => {
    const replicaId = ledTo.get(address);
    return replicaId !== undefined && reached.has(replicaId);
  };
  const wanted = new Set([
    ...configured.filter((address) => !led(address)),
    ...missing.flatMap(({ address }) => (address === "" ? configured : address)),
  ]);
  return [...wanted].filter((address) => !dialling.has(address));
}

/**
 * Streams to replicas that no longer count as alive. One that still brings jobs is kept until it has none: whoever ran
 * out of the list but not out of work had trouble with its database, not with us.
 */
export function linksToClose<L extends Link>({ links, listed }: Situation<L>): L[] {
  if (listed === null) return [];
  const alive = new Set(listed.map(({ id }) => id));
  return links.filter(({ replicaId, running }) => replicaId !== null && running === 0 && !alive.has(replicaId));
}

/** How many of the live replicas have a stream, and how many lack one. */
export function countReplicas({ links, listed }: Situation<Link>): {
  readonly reached: number;
  readonly missing: number;
} {
  const reached = new Set(links.flatMap(({ replicaId }) => replicaId ?? []));
  if (listed === null) return { reached: reached.size, missing: 0 };
  const missing = listed.filter(({ id }) => !reached.has(id)).length;
  return { reached: listed.length - missing, missing };
}

/** As much of a list as an agent believes: bounded, each with an id, addresses that can be dialled. */
export function readReplicas(replicas: readonly Replica[]): Replica[] {
  return replicas
    .slice(0, MAX_REPLICAS)
    .filter(({ id }) => id !== "" && id.length <= 64)
    .map(({ id, address }) => ({ id, address: dialTarget.parse(address) ?? "" }));
}

const MAX_REPLICAS = 100;
