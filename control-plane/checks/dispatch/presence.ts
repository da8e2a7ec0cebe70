import type { AgentInfo } from "#control-plane/checks/dispatch/hello.ts";

/** A live replica of the control plane. */
export interface ReplicaInfo {
  readonly id: string;
  /** Advertised host:port for agents; empty: none. */
  readonly address: string;
}

/** An agent without a stream at this replica. */
export interface AbsentAgent {
  readonly agent: AgentInfo;
  readonly accountId: number | null;
  readonly enabled: boolean;
  /** Live replicas that the agent is attached to; empty: it is offline. */
  readonly replicas: readonly string[];
  readonly draining: boolean;
}

/** Interface of presence, which replicas share through the database (implemented in control-plane/checks/probes). */
export interface Presence {
  /**
   * Returns all enrolled, not revoked agents, read from the database at most a few seconds ago. It is the same array
   * until something in it changes, because every job reads it.
   */
  absent(): readonly AbsentAgent[];
  /** Returns the live replicas, this one included. */
  replicas(): readonly ReplicaInfo[];
  /** Adds a listener for changes of the set of live replicas. */
  onReplicas(listener: () => void): void;
  /** Reports that an agent attached here, left or began to drain; it is written to the database shortly after. */
  changed(agent: AgentInfo, state: "online" | "draining" | "gone"): void;
}
