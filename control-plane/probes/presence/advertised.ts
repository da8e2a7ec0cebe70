import type { ReplicaInfo } from "#control-plane/dispatch/presence.ts";

/**
 * Watches for replicas without an advertised address. Agents reach such a replica only if a load balancer happens to
 * send them there, and a job for an agent that is attached to another replica is answered with 503.
 */
export interface AdvertiseWatch {
  /** Takes the live replicas as last read from the database. Returns a change of `missing` that should be logged. */
  update(replicas: readonly ReplicaInfo[], nowMs: number): "incomplete" | "complete" | null;
  /** Returns the ids of the replicas without an address; empty if there is only one replica. */
  missing(): readonly string[];
}

/**
 * Creates a watch. A change counts after it has lasted `settleMs` milliseconds. For that time a replica that crashed is
 * still listed, and a replica that restarts must not count as two.
 */
export function createAdvertiseWatch(settleMs: number): AdvertiseWatch {
  let missing: readonly string[] = [];
  let candidate: readonly string[] = [];
  let since = -Infinity;
  return {
    update(replicas, nowMs) {
      const found = replicas.length < 2 ? [] : replicas.filter(({ address }) => address === "").map(({ id }) => id);
      if (found.join() !== candidate.join()) [candidate, since] = [found, nowMs];
      if (candidate.join() === missing.join() || (candidate.length > 0 && nowMs - since < settleMs)) return null;
      missing = candidate;
      return missing.length > 0 ? "incomplete" : "complete";
    },
    missing: () => missing,
  };
}
