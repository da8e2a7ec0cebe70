import type { Sql, Transaction } from "#control-plane/database/connect.ts";
import type { ExpiryKind } from "#control-plane/expiry/links/targets.ts";

/** A target that this replica visits. */
export interface ClaimedTarget {
  readonly id: number;
  readonly kind: ExpiryKind;
  readonly target: string;
  /** 0: any shared probe can look; else the account whose private probes must. */
  readonly scope: number;
  readonly registry: string | null;
  readonly nextAt: Date;
  readonly lookAt: Date;
  readonly lease: number;
  readonly failures: number;
  readonly lookedAt: Date | null;
  /** JSON of the facts that were found last; null: none yet. */
  readonly facts: string | null;
  /** Whether a monitor of it is active. */
  readonly isWatched: boolean;
  /** Where one of its monitors is checked; null: unknown. */
  readonly location: string | null;
}

/** Options of a claim. */
interface ClaimOptions {
  readonly kind: ExpiryKind;
  readonly now: Date;
  readonly most: number;
  readonly lease: number;
  readonly leaseMs: number;
  /** Registries that are not asked now. */
  readonly closed: readonly string[];
}

/** Claims targets that are due for a visit, the most overdue first. Those that other replicas claim are left out. */
export async function claimTargets(sql: Sql, options: ClaimOptions): Promise<readonly ClaimedTarget[]> {
  const { kind, now, most, lease, leaseMs, closed } = options;
  return sql<ClaimedTarget[]>`
    with due as materialized (
      select id from expiry_targets
      where next_at <= ${now} and kind = ${kind} and (lease = 0 or lease_ends_at <= ${now})
        and (registry is null or registry <> all(${[...closed]}::text[]))
      order by next_at limit ${most} for update skip locked
    ), claimed as (
      update expiry_targets as t
      set lease = ${lease}, lease_ends_at = ${now}::timestamptz + ${leaseMs}::float8 * interval '1 millisecond'
      from due where t.id = due.id
      returning t.id, t.kind, t.target, t.scope, t.registry, t.next_at, t.look_at, t.lease, t.failures, t.looked_at,
        t.facts
    )
    select c.id, c.kind, c.target, c.scope, c.registry, c.next_at as "nextAt", c.look_at as "lookAt", c.lease, c.failures,
      c.looked_at as "lookedAt", c.facts,
      w.location is not null as "isWatched", nullif(w.location, '') as location
    from claimed as c left join lateral (
      select coalesce(m.settings::json -> 'locations' ->> 0, '') as location
      from expiry_links as l join monitors as m on m.id = l.monitor_id
      where l.target_id = c.id and m.is_active limit 1
    ) as w on true`;
}

/** A target that is locked until the transaction ends. */
interface LockedTarget {
  readonly lookAt: Date;
  readonly failures: number;
  readonly error: string | null;
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
    select look_at as "lookAt", failures, error, looked_at as "lookedAt", facts, changed_at as "changedAt"
    from expiry_targets where id = ${id} and lease = ${lease} for update`;
  return row ?? null;
}

/** A monitor that can be informed. */
export interface LinkedMonitor {
  readonly id: number;
  readonly accountId: number;
  readonly name: string;
  readonly url: string;
  readonly checkType: string;
  /** JSON of MonitorSettings. */
  readonly settings: string;
  /** JSON of Memory. */
  readonly memory: string;
}

/**
 * Locks the active monitors of a target and their links, after their accounts: in the order of those who delete them.
 * Events refer to the accounts.
 */
export async function lockMonitorsOf(tx: Transaction, targetId: number): Promise<readonly LinkedMonitor[]> {
  const ids = tx`select l.monitor_id from expiry_links as l where l.target_id = ${targetId}`;
  await tx`
    select from accounts where id in (select account_id from monitors where id in (${ids}) and is_active)
    order by id for key share`;
  await tx`select from monitors where id in (${ids}) and is_active order by id for key share`;
  return tx<LinkedMonitor[]>`
    select m.id, m.account_id as "accountId", m.name, m.url, m.check_type as "checkType", m.settings, l.memory
    from expiry_links as l join monitors as m on m.id = l.monitor_id
    where l.target_id = ${targetId} and m.is_active order by m.id for update of l`;
}

/** A target after a visit. */
export interface VisitedTarget {
  readonly nextAt: Date;
  readonly lookAt: Date;
  readonly failures: number;
  readonly error: string | null;
  readonly lookedAt: Date | null;
  readonly facts: string | null;
  readonly fingerprint: string | null;
  readonly changedAt: Date | null;
}

/** Writes a target after its visit and ends the claim. It must be locked. */
export async function writeTarget(tx: Transaction, id: number, visited: VisitedTarget): Promise<void> {
  const { nextAt, lookAt, failures, error, lookedAt, facts, fingerprint, changedAt } = visited;
  await tx`
    update expiry_targets
    set next_at = ${nextAt}, look_at = ${lookAt}, failures = ${failures}, error = ${error}, looked_at = ${lookedAt},
      facts = ${facts}, fingerprint = ${fingerprint}, changed_at = ${changedAt}, lease = 0, lease_ends_at = null
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
    from unnest(
      ${memories.map(({ monitorId }) => monitorId)}::bigint[], ${memories.map(({ memory }) => memory)}::text[]
    ) as given (monitor_id, memory)
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

/** Ends the claim of a target that was not visited: it is due as before. */
export async function releaseTarget(sql: Sql, { id, lease }: Pick<ClaimedTarget, "id" | "lease">): Promise<void> {
  await sql`update expiry_targets set lease = 0, lease_ends_at = null where id = ${id} and lease = ${lease}`;
}
