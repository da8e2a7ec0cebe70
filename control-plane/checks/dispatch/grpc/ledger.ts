import type { ConnectionLimits } from "#control-plane/checks/dispatch/grpc/limits.ts";

/**
 * Age in milliseconds from which a connection without a certificate is closed for a new one if all slots are taken. So
 * a client that holds slots and sends nothing cannot lock out agents, and a burst of agents that reconnect does not
 * displace itself.
 */
const DISPLACEABLE_AFTER_MS = 1_000;

/** The limit because of which a connection gets no slot. */
export type NoSlot = "address" | "strangers" | "agent" | "agents" | "handshakes";

/** Whether a new connection gets a slot. `displaced` is the key of a connection that must be closed for it, or null. */
export type Slot =
  | { readonly ok: true; readonly displaced: string | null }
  | { readonly ok: false; readonly reason: NoSlot };

/** Counts the connections of the agents' port against their limits. Pure: it knows a connection only by its key. */
export interface ConnectionLedger {
  /** Adds a new connection of a client address. `nowMs` is monotonic, in milliseconds. */
  open(key: string, address: string, nowMs: number): Slot;
  /**
   * Counts the connection as one of this agent, whose valid certificate it has presented. Returns null if it gets a
   * slot.
   */
  identify(key: string, agent: string): NoSlot | null;
  /** Removes a connection that was closed. */
  close(key: string): void;
  counts(): { readonly strangers: number; readonly agents: number };
}

type Limits = Pick<ConnectionLimits, "strangers" | "strangersPerAddress" | "agents" | "connectionsPerAgent">;

/** Creates an empty ledger. */
export function createLedger(limits: Limits): ConnectionLedger {
  /** In the order in which they were opened, because maps keep the order of insertion. */
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

  /** Returns the first of these keys if its connection is old enough to be displaced, else null. */
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
