import type { Replica } from "#shared/protocol/probe.ts";
import { dialTarget } from "#shared/settings/address.ts";

/** One stream of this agent, dialling or established. */
export interface Link {
  readonly address: string;
  /** null before the welcome. */
  readonly replicaId: string | null;
  /** Number of running jobs of this stream. */
  readonly running: number;
}

/** State that decides which addresses to dial. */
export interface Situation<L extends Link> {
  /** VANTAGE_CONTROL_PLANE. */
  readonly configured: readonly string[];
  readonly links: readonly L[];
  /**
   * Every live replica from the latest list of any replica; null if there is no list yet (a 1.0 hub never sends one).
   */
  readonly listed: readonly Replica[] | null;
  /** The replica that each address led to last. */
  readonly ledTo: ReadonlyMap<string, string>;
}

/**
 * Returns the addresses to dial now. The caller leaves out those that still wait for their back-off.
 *
 * 1. A configured address that has not led to a replica yet, or that led to one without a stream.
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
 * Returns the streams to replicas that no longer count as alive. A stream with running jobs is kept until they end:
 * such a replica has a problem with its database, not with this agent.
 */
export function linksToClose<L extends Link>({ links, listed }: Situation<L>): L[] {
  if (listed === null) return [];
  const alive = new Set(listed.map(({ id }) => id));
  return links.filter(({ replicaId, running }) => replicaId !== null && running === 0 && !alive.has(replicaId));
}

/** Counts the live replicas with a stream and those without one. */
export function countReplicas({ links, listed }: Situation<Link>): {
  readonly reached: number;
  readonly missing: number;
} {
  const reached = new Set(links.flatMap(({ replicaId }) => replicaId ?? []));
  if (listed === null) return { reached: reached.size, missing: 0 };
  const missing = listed.filter(({ id }) => !reached.has(id)).length;
  return { reached: listed.length - missing, missing };
}

/** Filters a list of replicas: a limited number, each with an id and an address that can be dialled. */
export function readReplicas(replicas: readonly Replica[]): Replica[] {
  return replicas
    .slice(0, MAX_REPLICAS)
    .filter(({ id }) => id !== "" && id.length <= 64)
    .map(({ id, address }) => ({ id, address: dialTarget.parse(address) ?? "" }));
}

const MAX_REPLICAS = 100;
