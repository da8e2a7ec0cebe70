import type { Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import type { ExpiryKind } from "#control-plane/outages/kinds/expiring.ts";
import type { ClaimedTarget } from "#control-plane/watching/expiry/sweep/claims-store.ts";

/** A target that is locked until the transaction ends. */
interface LockedTarget {
  readonly lookAt: Date;
  readonly failures: number;
  readonly error: string | null;
  readonly errorMessage: string | null;
  readonly failedSince: Date | null;
  readonly doubtedAt: Date | null;
  readonly lookedAt: Date | null;
  readonly facts: string | null;
  readonly changedAt: Date | null;
}

/** Locks a target for its claim; null if the claim was lost. */
export async function lockTarget(
  tx: Transaction,
  { id, lease }: Pick<ClaimedTarget, "id" | "lease">,
): Promise<LockedTarget | null> {
  const [row] = await tx<LockedTarget[]>`
    select look_at as "lookAt", failures, error, error_message as "errorMessage",
      failed_since as "failedSince", doubted_at as "doubtedAt", looked_at as "lookedAt", facts, changed_at as "changedAt"
    from expiry_targets where id = ${id} and lease = ${lease} for update`;
  return row ?? null;
}

/** A monitor of a target, and of what it was informed. */
export interface LinkedMonitor {
  readonly id: number;
  readonly checkType: string;
  /** JSON of Memory. */
  readonly memory: string;
}

/**
 * Locks the active monitors of a target, after their accounts: in the order of those who delete them. Events refer to the
 * accounts. Call it before the target is locked, as those who link monitors to it do: an erasure waits for them, so it
 * must not hold what they wait for. Returns the ids.
 */
export async function lockMonitorsOf(tx: Transaction, targetId: number): Promise<readonly number[]> {
  const ids = tx`select l.monitor_id from expiry_links as l where l.target_id = ${targetId}`;
  await tx`
    select from accounts where id in (select account_id from monitors where id in (${ids}) and is_active)
    order by id for key share`;
  const rows = await tx<{ id: number }[]>`
    select id from monitors where id in (${ids}) and is_active order by id for key share`;
  return rows.map(({ id }) => id);
}

/**
 * Locks the links of the active monitors of a locked target. A host can have thousands of monitors, so only what decides
 * is read.
 */
export async function lockLinksOf(tx: Transaction, targetId: number): Promise<readonly LinkedMonitor[]> {
  return tx<LinkedMonitor[]>`
    select m.id, m.check_type as "checkType", l.memory
    from expiry_links as l join monitors as m on m.id = l.monitor_id
    where l.target_id = ${targetId} and m.is_active order by m.id for update of l`;
}

/** A monitor that has something to notice. */
export interface InformedMonitor {
  readonly id: number;
  readonly accountId: number;
  readonly name: string;
  readonly url: string;
  readonly checkType: string;
  readonly tags: readonly string[];
  readonly isMailed: boolean;
  /** Whether advisories are mailed too. */
  readonly isAdvised: boolean;
  /** JSON of the addresses; null: the address of the account. */
  readonly emails: string | null;
}

/** Reads what events about monitors say, and who gets them. */
export async function readInformed(
  tx: Transaction,
  monitorIds: readonly number[],
): Promise<readonly InformedMonitor[]> {
  return tx<InformedMonitor[]>`
    select id, account_id as "accountId", name, url, check_type as "checkType", tags,
      coalesce((settings::json ->> 'notify_email')::boolean, false) as "isMailed",
      coalesce((settings::json ->> 'notify_advisories')::boolean, false) as "isAdvised",
      settings::json ->> 'notify_emails' as emails
    from monitors where id = any(${[...monitorIds]}::bigint[]) order by id`;
}

/** A target after a sweep. */
export interface SettledTarget {
  readonly lookAt: Date;
  readonly noticeAt: Date | null;
  readonly failures: number;
  readonly error: string | null;
  readonly errorMessage: string | null;
  readonly failedSince: Date | null;
  readonly doubtedAt: Date | null;
  readonly lookedAt: Date | null;
  readonly facts: string | null;
  readonly fingerprint: string | null;
  readonly changedAt: Date | null;
}

/** Writes a target after its sweep and ends the claim. It must be locked. */
export async function writeTarget(tx: Transaction, id: number, settled: SettledTarget): Promise<void> {
  const { lookAt, noticeAt, failures, error, errorMessage, failedSince, doubtedAt } = settled;
  const { lookedAt, facts, fingerprint, changedAt } = settled;
  await tx`
    update expiry_targets
    set next_at = least(${lookAt}::timestamptz, ${noticeAt}::timestamptz), look_at = ${lookAt}, notice_at = ${noticeAt},
      failures = ${failures}, error = ${error}, error_message = ${errorMessage}, failed_since = ${failedSince}, doubted_at = ${doubtedAt},
      looked_at = ${lookedAt}, facts = ${facts}, fingerprint = ${fingerprint}, changed_at = ${changedAt}, lease = 0,
      lease_ends_at = null
    where id = ${id}`;
}

/** Writes what monitors were informed of about one kind of target. Their links must be locked. */
export async function writeMemories(
  tx: Transaction,
  kind: ExpiryKind,
  memories: readonly { readonly monitorId: number; readonly memory: string }[],
): Promise<void> {
  await tx`
    update expiry_links as l set memory = given.memory
    from ${given(tx, memories, { monitorId: "bigint", memory: "text" })}
    where l.monitor_id = given.monitor_id and l.kind = ${kind}`;
}

/** Ends the claim of a target without an active monitor. It is deleted if it has none at all. */
export async function dismissTarget(
  tx: Transaction,
  { id, lease }: Pick<ClaimedTarget, "id" | "lease">,
  nextAt: Date,
): Promise<void> {
  await tx`select from expiry_targets where id = ${id} and lease = ${lease} for update`;
  // Statements of their own: they see the links that were made while the first one waited.
  await tx`
    update expiry_targets as t
    set lease = 0, lease_ends_at = null, next_at = case when exists (
      select from expiry_links as l join monitors as m on m.id = l.monitor_id where l.target_id = t.id and m.is_active
    ) then t.next_at else ${nextAt} end
    where t.id = ${id} and t.lease = ${lease}`;
  await tx`
    delete from expiry_targets as t
    where t.id = ${id} and t.lease = 0 and not exists (select from expiry_links as l where l.target_id = t.id)`;
}

/** Ends the claim of a target that was not swept: it is due as before. */
export async function releaseTarget(sql: Sql, { id, lease }: Pick<ClaimedTarget, "id" | "lease">): Promise<void> {
  await sql`update expiry_targets set lease = 0, lease_ends_at = null where id = ${id} and lease = ${lease}`;
}
