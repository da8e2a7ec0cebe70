import type { ReplicaInfo } from "#control-plane/dispatch/presence.ts";

/**
 * Watches for replicas without an advertised address. Agents can then reach a second replica only if a load
 * balancer happens to lead them there, and a job of an agent that is attached elsewhere is answered with 503.
 */
export interface AdvertiseWatch {
  /** Takes the live replicas of one look at the database; returns a change of `missing` that is worth a line in the log. */
  look(replicas: readonly ReplicaInfo[], nowMs: number): "incomplete" | "complete" | null;
  /** Ids of the replicas without an address, while there are several replicas. */
  missing(): readonly string[];
}

/**
 * A watch that has seen nothing yet. A change counts once it has lasted `settleMs` milliseconds, the time that a replica
 * which ended without a word is still listed: one that is just started again is not two.
 */
export function watchAdvertised(settleMs: number): AdvertiseWatch {
  let missing: readonly string[] = [];
  let candidate: readonly string[] = [];
  let since = -Infinity;
  return {
    look(replicas, nowMs) {
      const found = replicas.length < 2 ? [] : replicas.filter(({ address }) => address === "").map(({ id }) => id);
      if (found.join() !== candidate.join()) [candidate, since] = [found, nowMs];
      if (candidate.join() === missing.join() || (candidate.length > 0 && nowMs - since < settleMs)) return null;
      missing = candidate;
      return missing.length > 0 ? "incomplete" : "complete";
    },
    missing: () => missing,
  };
}
