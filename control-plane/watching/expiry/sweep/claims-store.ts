import type { Sql, SqlFragment } from "#control-plane/core/database/connect.ts";
import type { ExpiryKind } from "#control-plane/outages/kinds/expiring.ts";

/** A target that this replica sweeps. */
export interface ClaimedTarget {
  readonly id: number;
  readonly kind: ExpiryKind;
  readonly target: string;
  /** 0: any shared probe can look; else the account whose private probes must. */
  readonly scope: number;
  /** Registry to which the question of this sweep belongs; null if it asks none. */
  readonly registry: string | null;
  readonly nextAt: Date;
  readonly lookAt: Date;
  readonly lease: number;
  readonly failures: number;
  readonly doubtedAt: Date | null;
  readonly lookedAt: Date | null;
  /** JSON of the facts that were found last; null: none yet. */
  readonly facts: string | null;
  /** Whether a monitor of it is active. */
  readonly isWatched: boolean;
  /** Where one of its monitors is checked; null: unknown. */
  readonly location: string | null;
  /** Whether the target can be looked at now. */
  readonly canLook: boolean;
}

/** Options of a claim. */
interface ClaimOptions {
  readonly now: Date;
  readonly most: number;
  readonly lease: number;
  readonly leaseMs: number;
}

/** Claims certificates that are due for a sweep, the most overdue first. Those that other replicas claim are left out. */
export function claimCertificates(sql: Sql, options: ClaimOptions): Promise<readonly ClaimedTarget[]> {
  const { now, most } = options;
  const due = sql`due as materialized (
    select id from expiry_targets
    where next_at <= ${now} and kind = 'certificate' and (lease = 0 or lease_ends_at <= ${now})
    order by next_at limit ${most} for update skip locked
  )`;
  return claim(sql, due, options, true);
}

/**
 * Claims domains that are due for a sweep, the most overdue first: one of each registry of which none is claimed, over
 * all replicas, and that is not paused. The claim of the registry ends with endQuestion, or like that of the target.
 */
export function claimDomains(sql: Sql, options: ClaimOptions): Promise<readonly ClaimedTarget[]> {
  const { now, most, lease, leaseMs } = options;
  const firstOf = (registry: SqlFragment, locking: SqlFragment) => sql`(
    select t.id, t.registry, t.next_at from expiry_targets as t
    where t.registry = ${registry} and t.next_at <= ${now} and (t.lease = 0 or t.lease_ends_at <= ${now})
    order by t.next_at limit 1 ${locking}
  )`;
  // No statement waits for a lock here, so no order of locks matters.
  const due = sql`free as materialized (
    select r.registry from expiry_registries as r cross join lateral ${firstOf(sql`r.registry`, sql``)} as first
    where (r.paused_until is null or r.paused_until <= ${now}) and (r.lease = 0 or r.lease_ends_at <= ${now})
    order by first.next_at limit ${most} for no key update of r skip locked
  ), due as materialized (
    select first.id, first.registry
    from free cross join lateral ${firstOf(sql`free.registry`, sql`for update skip locked`)} as first
  ), asked as (
    update expiry_registries as r
    set lease = ${lease}, lease_ends_at = ${now}::timestamptz + ${leaseMs}::float8 * interval '1 millisecond'
    from due where r.registry = due.registry
  )`;
  return claim(sql, due, options, true);
}

/**
 * Claims domains about which notices were due `waitMs` ago while their registry is paused: these go by its last answer.
 * The most overdue first.
 */
export function claimWaiting(
  sql: Sql,
  options: ClaimOptions & { readonly waitMs: number },
): Promise<readonly ClaimedTarget[]> {
  const { now, most, waitMs } = options;
  const due = sql`due as materialized (
    select t.id from expiry_registries as r join expiry_targets as t using (registry)
    where r.paused_until > ${now} and t.next_at <= ${now}
      and t.notice_at <= ${now}::timestamptz - ${waitMs}::float8 * interval '1 millisecond'
      and (t.lease = 0 or t.lease_ends_at <= ${now})
    order by t.notice_at limit ${most} for update of t skip locked
  )`;
  return claim(sql, due, options, false);
}

async function claim(
  sql: Sql,
  due: SqlFragment,
  { now, lease, leaseMs }: ClaimOptions,
  canLook: boolean,
): Promise<readonly ClaimedTarget[]> {
  return sql<ClaimedTarget[]>`
    with ${due}, claimed as (
      update expiry_targets as t
      set lease = ${lease}, lease_ends_at = ${now}::timestamptz + ${leaseMs}::float8 * interval '1 millisecond'
      from due where t.id = due.id
      returning t.id, t.kind, t.target, t.scope, t.registry, t.next_at, t.look_at, t.lease, t.failures, t.doubted_at,
        t.looked_at, t.facts
    )
    select c.id, c.kind, c.target, c.scope, case when ${canLook}::boolean then c.registry end as registry, c.next_at as "nextAt",
      c.look_at as "lookAt", c.lease, c.failures, c.doubted_at as "doubtedAt", c.looked_at as "lookedAt", c.facts,
      w.location is not null as "isWatched", nullif(w.location, '') as location, ${canLook}::boolean as "canLook"
    from claimed as c left join lateral (
      select coalesce(m.settings::json -> 'locations' ->> 0, '') as location
      from expiry_links as l join monitors as m on m.id = l.monitor_id
      where l.target_id = c.id and m.is_active limit 1
    ) as w on true`;
}
