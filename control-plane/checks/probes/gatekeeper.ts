import type { App } from "#control-plane/core/app.ts";
import type { GuardedDatabase } from "#control-plane/core/database/guarded.ts";
import type { Notifications } from "#control-plane/core/database/notifications.ts";
import { REVOKED, type Admission, type Enrolled, type Gatekeeper } from "#control-plane/checks/dispatch/admission.ts";
import type { Rejection } from "#control-plane/checks/dispatch/hello.ts";
import type { Authority, Holder } from "#control-plane/checks/probes/authority.ts";
import { PROBE_CHANNEL, type StoredProbe, findProbes } from "#control-plane/checks/probes/store.ts";
import { DatabaseAway } from "#control-plane/core/database/database-away.ts";
import { createPump } from "#control-plane/core/database/pump.ts";

const MOST_READS = 3;

/** Reads the enrolment of single agents. */
interface EnrolmentReader {
  /**
   * Returns the row of an agent as of the last `invalidate`, null if there is none. Rejects if the database is not
   * available or the row changes during each of three reads.
   */
  read(agentId: string): Promise<StoredProbe | null>;
  /** Makes reads in progress of these agents start again. */
  invalidate(isMeant: (agentId: string) => boolean): void;
}

/** Creates a reader of enrolments. */
function createEnrolmentReader(database: GuardedDatabase): EnrolmentReader {
  const reads = new Set<{ readonly agentId: string; stale: boolean }>();
  return {
    async read(agentId) {
      for (let turn = 1; ; turn += 1) {
        const mark = { agentId, stale: false };
        reads.add(mark);
        const [row] = await database.run((sql) => findProbes(sql, [agentId])).finally(() => reads.delete(mark));
        if (!mark.stale) return row ?? null;
        if (turn === MOST_READS) throw new DatabaseAway("the enrolment changes faster than it can be read");
      }
    },
    invalidate(isMeant) {
      for (const mark of reads) if (isMeant(mark.agentId)) mark.stale = true;
    },
  };
}

const NO_CERTIFICATE = refuse(
  "identity",
  "the client certificate is missing, expired or not issued by this control plane; enrol the agent with a join token",
);
const EXPIRED = refuse("identity", "the client certificate has expired; enrol the agent again with a new join token");
const REPLACED = refuse(
  "identity",
  "the client certificate was replaced by newer ones: another process uses this agent's identity; enrol the agent again",
);
const AWAY = refuse("capacity", "the control plane cannot reach its database; try again", true);

/**
 * Decides which agents can attach, and reports changes to the enrolment of admitted agents until `close`. A stream
 * waits for the reads on `database`. Every `sweepMs` milliseconds all admitted agents are read, which finds changes
 * whose notification was lost.
 */
export function createGatekeeper(
  deps: Pick<App, "clock"> & {
    readonly authority: Pick<Authority, "identify">;
    readonly database: GuardedDatabase;
    readonly notifications: Notifications;
    readonly sweepMs?: number;
  },
): Gatekeeper & { close(): void } {
  const { authority, database, notifications, clock, sweepMs = 5_000 } = deps;
  const listeners: ((agentId: string, enrolled: Enrolled | null) => void)[] = [];
  const reader = createEnrolmentReader(database);
  const admitted = createAdmittedAgents(database, (agentId, enrolled) => {
    for (const listener of listeners) listener(agentId, enrolled);
  });

  function recheck(isMeant: (agentId: string) => boolean): void {
    reader.invalidate(isMeant);
    admitted.recheck(isMeant);
  }

  notifications.listen(
    PROBE_CHANNEL,
    (payload) => {
      const account = /^account:(\d+)$/.exec(payload)?.[1];
      if (account === undefined) return recheck((id) => id === payload);
      // The account of an agent whose enrolment is being read is not known yet.
      recheck((id) => !admitted.has(id) || admitted.accountOf(id) === Number(account));
    },
    () => recheck(() => true),
  );
  const sweep = setInterval(() => admitted.recheck(() => true), sweepMs);
  sweep.unref();

  return {
    async admit(certificate): Promise<Admission> {
      const holder = certificate === null ? null : authority.identify(certificate);
      if (holder === null) return { ok: false, rejection: NO_CERTIFICATE };
      let row: StoredProbe | null;
      try {
        row = await reader.read(holder.agentId);
      } catch {
        return { ok: false, rejection: AWAY };
      }
      const rejection = refuseHolder(holder, row, clock.now());
      if (row === null || rejection !== null) return { ok: false, rejection: rejection ?? REVOKED };
      const enrolled = enrolledOf(row);
      admitted.add(enrolled);
      return { ok: true, enrolled };
    },
    onChange: (listener) => void listeners.push(listener),
    close() {
      clearInterval(sweep);
      admitted.close();
    },
  };
}

/**
 * Returns the rejection of the holder of a valid certificate; null if it can attach. An agent without a row was
 * deleted.
 */
export function refuseHolder(holder: Holder, row: StoredProbe | null, now: Date): Rejection | null {
  if (row === null || row.revokedAt !== null) return REVOKED;
  if (holder.notAfter <= now) return EXPIRED;
  return holder.serial === row.serial || holder.serial === row.previousSerial ? null : REPLACED;
}

function refuse(reason: Rejection["reason"], message: string, retry = false): Rejection {
  return { reason, message, retry };
}

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
function createAdmittedAgents(
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
function enrolledOf({ id, region, accountId, enabled }: StoredProbe): Enrolled {
  return { agentId: id, region, accountId, enabled };
}

function isSame(before: Enrolled | undefined, now: Enrolled): boolean {
  return before?.enabled === now.enabled && before.accountId === now.accountId && before.region === now.region;
}
