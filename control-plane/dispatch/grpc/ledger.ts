import type { ConnectionLimits } from "#control-plane/dispatch/grpc/limits.ts";

/**
 * A connection that was opened this long ago, milliseconds, and has shown no certificate yet gives way to a new one where
 * all places are taken. So a client that holds places and sends nothing cannot keep agents out, and a burst of agents
 * that reconnect does not displace itself.
 */
const DISPLACEABLE_AFTER_MS = 1_000;

/** Why a connection gets no place. */
export type NoPlace = "address" | "strangers" | "agent" | "agents";

/** Whether a new connection has a place; `displaced` is the connection that has to be closed for it. */
type Place =
  | { readonly ok: true; readonly displaced: string | null }
  | { readonly ok: false; readonly reason: NoPlace };

/** Counts the connections of the agents' port. Pure: connections are known by a key. */
interface ConnectionLedger {
  /** A new connection of a client address, at a monotonic time in milliseconds. */
  open(key: string, address: string, nowMs: number): Place;
  /** The connection has shown a valid certificate of this agent; null: it has a place among the agents. */
  identify(key: string, agent: string): NoPlace | null;
  /** The connection is closed. */
  close(key: string): void;
  counts(): { readonly strangers: number; readonly agents: number };
}

type Limits = Pick<ConnectionLimits, "strangers" | "strangersPerAddress" | "agents" | "connectionsPerAgent">;

/** An empty ledger. */
export function createLedger(limits: Limits): ConnectionLedger {
  /** In the order of their opening, as maps keep it. */
  const strangers = new Map<string, { readonly address: string; readonly openedAt: number }>();
  const byAddress = new Map<string, Set<string>>();
  const agents = new Map<string, string>();
  const byAgent = new Map<string, number>();

  function removeStranger(key: string): void {
    const stranger = strangers.get(key);
    if (stranger === undefined) return;
    strangers.delete(key);
    const neighbours = byAddress.get(stranger.address);
    neighbours?.delete(key);
    if (neighbours?.size === 0) byAddress.delete(stranger.address);
  }

  /** The first of these keys, where it has been open for long enough. */
  function displaceable(keys: Iterable<string>, nowMs: number): string | null {
    for (const key of keys) {
      const { openedAt = nowMs } = strangers.get(key) ?? {};
      return nowMs - openedAt >= DISPLACEABLE_AFTER_MS ? key : null;
    }
    return null;
  }

  return {
    open(key, address, nowMs) {
      const neighbours = byAddress.get(address) ?? new Set();
      const isAddressFull = neighbours.size >= limits.strangersPerAddress;
      const isFull = strangers.size >= limits.strangers;
      const displaced = isAddressFull
        ? displaceable(neighbours, nowMs)
        : isFull
          ? displaceable(strangers.keys(), nowMs)
          : null;
      if (displaced === null && (isAddressFull || isFull)) {
        return { ok: false, reason: isAddressFull ? "address" : "strangers" };
      }
      if (displaced !== null) removeStranger(displaced);
      strangers.set(key, { address, openedAt: nowMs });
      byAddress.set(address, neighbours.add(key));
      return { ok: true, displaced };
    },
    identify(key, agent) {
      const own = byAgent.get(agent) ?? 0;
      if (own >= limits.connectionsPerAgent) return "agent";
      if (agents.size >= limits.agents) return "agents";
      removeStranger(key);
      agents.set(key, agent);
      byAgent.set(agent, own + 1);
      return null;
    },
    close(key) {
      removeStranger(key);
      const agent = agents.get(key);
      if (agent === undefined) return;
      agents.delete(key);
      const left = (byAgent.get(agent) ?? 1) - 1;
      if (left === 0) byAgent.delete(agent);
      else byAgent.set(agent, left);
    },
    counts: () => ({ strangers: strangers.size, agents: agents.size }),
  };
}
