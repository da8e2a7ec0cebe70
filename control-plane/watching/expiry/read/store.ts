import type { Queryable } from "#control-plane/core/database/connect.ts";
import type { ExpiryKind } from "#control-plane/outages/kinds/expiring.ts";

/** What is known about a target of a monitor. */
export interface KnownTarget {
  readonly monitorId: number;
  readonly kind: ExpiryKind;
  readonly target: string;
  /** JSON of the facts; null if nothing was found yet. */
  readonly facts: string | null;
  readonly lookedAt: Date | null;
  readonly changedAt: Date | null;
  /** Why the last look failed; null if it did not. */
  readonly error: string | null;
  readonly errorMessage: string | null;
  readonly failedSince: Date | null;
  /** When the registry first said that the domain has lapsed, if that is not believed yet. */
  readonly doubtedAt: Date | null;
  /** When it can be looked at next. */
  readonly lookAt: Date;
  /** Until when the registry is not asked; null if it is not paused. */
  readonly pausedUntil: Date | null;
}

/** Reads what is known about the targets of monitors. */
export async function readTargets(sql: Queryable, monitorIds: readonly number[]): Promise<readonly KnownTarget[]> {
  return sql<KnownTarget[]>`
    select l.monitor_id as "monitorId", t.kind, t.target, t.facts, t.looked_at as "lookedAt",
      t.changed_at as "changedAt", t.error, t.error_message as "errorMessage", t.failed_since as "failedSince", t.doubted_at as "doubtedAt",
      t.look_at as "lookAt", r.paused_until as "pausedUntil"
    from expiry_links as l join expiry_targets as t on t.id = l.target_id
      left join expiry_registries as r on r.registry = t.registry
    where l.monitor_id = any(${[...monitorIds]}::bigint[])`;
}

/** What was found at a target of a monitor: JSON of the facts. */
interface FoundTarget {
  readonly monitorId: number;
  readonly kind: ExpiryKind;
  readonly facts: string;
}

/** Reads what was found at the targets of monitors; those without facts are missing. */
export async function readFound(sql: Queryable, monitorIds: readonly number[]): Promise<readonly FoundTarget[]> {
  return sql<FoundTarget[]>`
    select l.monitor_id as "monitorId", t.kind, t.facts
    from expiry_links as l join expiry_targets as t on t.id = l.target_id
    where l.monitor_id = any(${[...monitorIds]}::bigint[]) and t.facts is not null`;
}
