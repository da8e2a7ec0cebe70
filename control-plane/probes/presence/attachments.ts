import type { AgentInfo } from "#control-plane/dispatch/hello.ts";
import type { AttachmentChange, PresenceReading } from "#control-plane/probes/presence/store.ts";
import { storedHello } from "#control-plane/probes/presence/stored-hello.ts";

/** An agent that is attached to this replica. */
interface OwnAttachment {
  readonly agent: AgentInfo;
  readonly draining: boolean;
}

/** The agents attached to this replica, and which of them the database does not show as they are. */
export interface OwnAttachments {
  get(probeId: string): OwnAttachment | null;
  /** An agent attached, left or began to drain; the database is to be told. */
  apply(agent: AgentInfo, state: "online" | "draining" | "gone"): void;
  /** Marks what the database shows wrongly: a row that expired, or a write that overtook another. */
  compare(stored: PresenceReading["own"]): void;
  /** Whether the database is to be told of anything. */
  hasChanges(): boolean;
  /** Takes up to `limit` changes, each as the agent is now. */
  takeChanges(limit: number): readonly AttachmentChange[];
  /** Marks changes again that could not be written. */
  putBack(changes: readonly AttachmentChange[]): void;
  /** Ids of the attached agents. */
  attachedIds(): readonly string[];
  /** Ids of agents that are attached, or of whose leave the database has not been told. */
  knownIds(): readonly string[];
}

/** No agent is attached. */
export function createOwnAttachments(): OwnAttachments {
  const attached = new Map<string, OwnAttachment>();
  const changed = new Set<string>();

  function changeOf(probeId: string): AttachmentChange {
    const held = attached.get(probeId);
    return held === undefined
      ? { probeId, draining: false, hello: null }
      : { probeId, draining: held.draining, hello: storedHello(held.agent) };
  }

  return {
    get: (probeId) => attached.get(probeId) ?? null,
    apply(agent, state) {
      if (state === "gone") attached.delete(agent.id);
      else attached.set(agent.id, { agent, draining: state === "draining" });
      changed.add(agent.id);
    },
    compare(stored) {
      const shown = new Map(stored.map((row) => [row.probeId, row.draining]));
      for (const id of shown.keys()) if (!attached.has(id)) changed.add(id);
      for (const [id, { draining }] of attached) if (shown.get(id) !== draining) changed.add(id);
    },
    hasChanges: () => changed.size > 0,
    takeChanges(limit) {
      const ids = Array.from(changed).slice(0, limit);
      for (const id of ids) changed.delete(id);
      return ids.map(changeOf);
    },
    putBack(changes) {
      for (const { probeId } of changes) changed.add(probeId);
    },
    attachedIds: () => [...attached.keys()],
    knownIds: () => [...new Set([...attached.keys(), ...changed])],
  };
}
