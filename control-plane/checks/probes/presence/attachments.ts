import type { AgentInfo } from "#control-plane/checks/dispatch/hello.ts";
import type { AttachmentChange, PresenceReading } from "#control-plane/checks/probes/presence/store.ts";
import { toStoredHello } from "#control-plane/checks/probes/presence/stored-hello.ts";

/** An agent that is attached to this replica. */
interface OwnAttachment {
  readonly agent: AgentInfo;
  readonly draining: boolean;
}

/** The agents attached to this replica, and the changes that the database does not show yet. */
export interface OwnAttachments {
  get(probeId: string): OwnAttachment | null;
  /** Records that an agent attached, left or began to drain. The change must then be written to the database. */
  apply(agent: AgentInfo, state: "online" | "draining" | "gone"): void;
  /** Marks agents that the database shows wrongly: because a row expired or one write overtook another. */
  compare(stored: PresenceReading["own"]): void;
  /** Reports whether there are changes to write. */
  hasChanges(): boolean;
  /** Takes up to `limit` changes, each with the present state of the agent. */
  takeChanges(limit: number): readonly AttachmentChange[];
  /** Marks changes again after they could not be written. */
  putBack(changes: readonly AttachmentChange[]): void;
  /** Returns the ids of the attached agents. */
  attachedIds(): readonly string[];
  /** Returns the ids of agents that are attached, or that left without a write to the database yet. */
  knownIds(): readonly string[];
}

/** Creates the attachments of a replica without agents. */
export function createOwnAttachments(): OwnAttachments {
  const attached = new Map<string, OwnAttachment>();
  const changed = new Set<string>();

  function changeOf(probeId: string): AttachmentChange {
    const held = attached.get(probeId);
    return held === undefined
      ? { probeId, draining: false, hello: null }
      : { probeId, draining: held.draining, hello: toStoredHello(held.agent) };
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
