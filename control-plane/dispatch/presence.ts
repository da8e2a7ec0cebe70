import type { AgentInfo } from "#control-plane/dispatch/hello.ts";

/** A live replica of the control plane. */
export interface ReplicaInfo {
  readonly id: string;
  /** host:port that agents dial; empty: the operator advertises none. */
  readonly address: string;
}

/** An agent that this replica has no stream of. */
export interface AbsentAgent {
  readonly agent: AgentInfo;
  readonly accountId: number | null;
  readonly enabled: boolean;
  /** Live replicas that have a stream of it; empty: it is offline. */
  readonly replicas: readonly string[];
  readonly draining: boolean;
  readonly seenAt: Date;
}

/** What the replicas tell each other through the database, as the hub sees it (control-plane/probes fulfils it). */
export interface Presence {
  /**
   * Everyone enrolled and not revoked, as of the last look at the database, at most a few seconds ago. The same array
   * until something in it has changed: it is asked for with every job.
   */
  absent(): readonly AbsentAgent[];
  /** Live replicas, this one included. */
  replicas(): readonly ReplicaInfo[];
  /** Called when the set of live replicas has changed. */
  onReplicas(listener: () => void): void;
  /** An agent attached here, left, or began to drain: the database hears of it soon. */
  changed(agent: AgentInfo, state: "online" | "draining" | "gone"): void;
}
