import type { GuardedDatabase } from "#control-plane/core/database/guarded.ts";
import { createPump } from "#control-plane/core/database/pump.ts";
import type { Enrolled } from "#control-plane/checks/dispatch/admission.ts";
import { findProbes, type StoredProbe } from "#control-plane/checks/probes/store.ts";

const RETRY_MS = 500;

/** The agents admitted at this replica, with their enrolment as last reported. */
interface AdmittedAgents {
  add(enrolled: Enrolled): void;
  has(agentId: string): boolean;
  /** Returns the account of a private agent; null: a shared agent; undefined: not admitted. */
  accountOf(agentId: string): number | null | undefined;
  /** Reads these agents again, soon, and reports those that changed; repeats it while the database is not available. */
  recheck(isMeant: (agentId: string) => boolean): void;
  close(): void;
}

/** Creates an empty set of agents; `report` is called for each change, with null for a revoked or deleted agent. */
export function createAdmittedAgents(
  database: GuardedDatabase,
  report: (agentId: string, enrolled: Enrolled | null) => void,
): AdmittedAgents {
  const admitted = new Map<string, Enrolled>();
  const pending = new Set<string>();
  let retry: NodeJS.Timeout | null = null;
  let closed = false;

  function apply(agentId: string, enrolled: Enrolled | null): void {
    if (enrolled === null) admitted.delete(agentId);
    else if (admitted.has(agentId)) admitted.set(agentId, enrolled);
    report(agentId, enrolled);
  }

  async function reportChanges(ids: readonly string[]): Promise<void> {
    const rows = await database.run((sql) => findProbes(sql, ids));
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const id of ids) {
      const row = byId.get(id);
      const now = row === undefined || row.revokedAt !== null ? null : enrolledOf(row);
      const before = admitted.get(id);
      if (now === null ? before !== undefined : !isSame(before, now)) apply(id, now);
    }
  }

  /** Reads all pending agents with one statement; they stay pending if it fails. */
  async function flush(): Promise<void> {
    const ids = [...pending];
    pending.clear();
    if (ids.length === 0 || closed) return;
    try {
      await reportChanges(ids);
    } catch {
      for (const id of ids) pending.add(id);
      retry ??= setTimeout(() => {
        retry = null;
        pump.wake();
      }, RETRY_MS);
    }
  }
  const pump = createPump(flush);

  return {
    add: (enrolled) => void admitted.set(enrolled.agentId, enrolled),
    has: (agentId) => admitted.has(agentId),
    accountOf: (agentId) => admitted.get(agentId)?.accountId,
    recheck(isMeant) {
      for (const id of admitted.keys()) if (isMeant(id)) pending.add(id);
      pump.wake();
    },
    close() {
      closed = true;
      if (retry !== null) clearTimeout(retry);
    },
  };
}

/** Returns the enrolment of a stored probe, as the hub uses it. */
export function enrolledOf({ id, region, accountId, enabled }: StoredProbe): Enrolled {
  return { agentId: id, region, accountId, enabled };
}

function isSame(before: Enrolled | undefined, now: Enrolled): boolean {
  return before?.enabled === now.enabled && before.accountId === now.accountId && before.region === now.region;
}
