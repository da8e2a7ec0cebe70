import type { Queryable } from "#control-plane/database/connect.ts";
import type { ExpiryKind } from "#control-plane/expiry/links/targets.ts";

/** What is known about a target of a monitor. */
interface KnownTarget {
  readonly monitorId: number;
  readonly kind: ExpiryKind;
  readonly target: string;
  /** JSON of the facts; null: nothing was found yet. */
  readonly facts: string | null;
  readonly lookedAt: Date | null;
  readonly changedAt: Date | null;
  /** Why the last look failed; null: it did not. */
  readonly error: string | null;
}

/** Reads what is known about the targets of monitors. */
export async function readTargets(sql: Queryable, monitorIds: readonly number[]): Promise<readonly KnownTarget[]> {
  return sql<KnownTarget[]>`
    select l.monitor_id as "monitorId", t.kind, t.target, t.facts, t.looked_at as "lookedAt",
      t.changed_at as "changedAt", t.error
    from expiry_links as l join expiry_targets as t on t.id = l.target_id
    where l.monitor_id = any(${[...monitorIds]}::bigint[])`;
}
