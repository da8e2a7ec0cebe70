import type { Clock } from "#shared/clock.ts";
import { DatabaseAway } from "#control-plane/database/database-away.ts";
import { createPump } from "#control-plane/database/pump.ts";
import type { GuardedDatabase } from "#control-plane/database/guarded.ts";
import type { Notifications } from "#control-plane/database/notifications.ts";
import { REVOKED, type Admission, type Enrolled, type Gatekeeper } from "#control-plane/dispatch/admission.ts";
import type { Rejection } from "#control-plane/dispatch/hello.ts";
import type { Authority, Holder } from "#control-plane/probes/authority.ts";
import { findProbes, PROBE_CHANNEL, type StoredProbe } from "#control-plane/probes/store.ts";

/** What the gatekeeper stands on. */
export interface GatekeeperDeps {
  readonly authority: Pick<Authority, "identify">;
  /** For look-ups a stream waits for. */
  readonly database: GuardedDatabase;
  readonly notifications: Notifications;
  readonly clock: Clock;
  /** Milliseconds between looks at everyone admitted: what finds a change whose notification never came. */
  readonly sweepMs?: number;
}

const RETRY_MS = 500;
const MOST_LOOKS = 3;

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

/** Decides who may attach and watches over those who did, until `close`. */
export function createGatekeeper(deps: GatekeeperDeps): Gatekeeper & { close(): void } {
  const { authority, database, notifications, clock, sweepMs = 5_000 } = deps;
  const listeners: ((agentId: string, enrolled: Enrolled | null) => void)[] = [];
  /** What was last told of everyone admitted here. */
  const admitted = new Map<string, Enrolled>();
  const changed = new Set<string>();
  /** Looks under way; what is said about their agent meanwhile makes them out of date. */
  const looks = new Set<{ readonly agentId: string; stale: boolean }>();
  let retry: NodeJS.Timeout | null = null;
  let closed = false;

  async function look(agentId: string): Promise<StoredProbe | null> {
    for (let turn = 1; ; turn += 1) {
      const mark = { agentId, stale: false };
      looks.add(mark);
      const [row] = await database.run((sql) => findProbes(sql, [agentId])).finally(() => looks.delete(mark));
      if (!mark.stale) return row ?? null;
      if (turn === MOST_LOOKS) throw new DatabaseAway("the enrolment changes faster than it can be read");
    }
  }

  function tell(agentId: string, enrolled: Enrolled | null): void {
    if (enrolled === null) admitted.delete(agentId);
    else if (admitted.has(agentId)) admitted.set(agentId, enrolled);
    for (const listener of listeners) listener(agentId, enrolled);
  }

  /** One statement for all that changed; while the database is away the question stays open. */
  async function flush(): Promise<void> {
    const ids = [...changed];
    changed.clear();
    if (ids.length === 0 || closed) return;
    try {
      const rows = await database.run((sql) => findProbes(sql, ids));
      const byId = new Map(rows.map((row) => [row.id, row]));
      for (const id of ids) {
        const row = byId.get(id);
        const now = row === undefined || row.revokedAt !== null ? null : enrolledOf(row);
        const before = admitted.get(id);
        if (now === null ? before !== undefined : !same(before, now)) tell(id, now);
      }
    } catch {
      for (const id of ids) changed.add(id);
      retry ??= setTimeout(() => {
        retry = null;
        pump.wake();
      }, RETRY_MS);
    }
  }
  const pump = createPump(flush);

  function suspect(isMeant: (agentId: string) => boolean): void {
    for (const mark of looks) if (isMeant(mark.agentId)) mark.stale = true;
    for (const id of admitted.keys()) if (isMeant(id)) changed.add(id);
    pump.wake();
  }

  notifications.listen(
    PROBE_CHANNEL,
    (payload) => {
      const account = /^account:(\d+)$/.exec(payload)?.[1];
      if (account === undefined) return suspect((id) => id === payload);
      // Of a look under way the account is not known yet.
      suspect((id) => !admitted.has(id) || admitted.get(id)?.accountId === Number(account));
    },
    () => suspect(() => true),
  );
  const sweep = setInterval(() => {
    for (const id of admitted.keys()) changed.add(id);
    pump.wake();
  }, sweepMs);
  sweep.unref();

  return {
    async admit(certificate): Promise<Admission> {
      const holder = certificate === null ? null : authority.identify(certificate);
      if (holder === null) return { ok: false, rejection: NO_CERTIFICATE };
      let row: StoredProbe | null;
      try {
        row = await look(holder.agentId);
      } catch {
        return { ok: false, rejection: AWAY };
      }
      const rejection = judge(holder, row, clock.now());
      if (row === null || rejection !== null) return { ok: false, rejection: rejection ?? REVOKED };
      const enrolled = enrolledOf(row);
      admitted.set(row.id, enrolled);
      return { ok: true, enrolled };
    },
    onChange: (listener) => void listeners.push(listener),
    close() {
      closed = true;
      clearInterval(sweep);
      if (retry !== null) clearTimeout(retry);
    },
  };
}

/** Why the holder of a certificate of ours is refused; null: it is not. An agent without a row was erased. */
export function judge(holder: Holder, row: StoredProbe | null, now: Date): Rejection | null {
  if (row === null || row.revokedAt !== null) return REVOKED;
  if (holder.notAfter <= now) return EXPIRED;
  return holder.serial === row.serial || holder.serial === row.previousSerial ? null : REPLACED;
}

function enrolledOf({ id, region, accountId, enabled }: StoredProbe): Enrolled {
  return { agentId: id, region, accountId, enabled };
}

function same(before: Enrolled | undefined, now: Enrolled): boolean {
  return before?.enabled === now.enabled && before.accountId === now.accountId && before.region === now.region;
}

function refuse(reason: Rejection["reason"], message: string, retry = false): Rejection {
  return { reason, message, retry };
}
