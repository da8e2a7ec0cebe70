import type { Queryable } from "#control-plane/database/connect.ts";
import type { CheckType } from "#control-plane/monitors/monitor.ts";

/** A monitor with its state. */
export interface SnapshotRow {
  readonly id: number;
  readonly name: string;
  readonly url: string;
  readonly checkType: CheckType;
  readonly isActive: boolean;
  readonly tags: readonly string[];
  readonly createdAt: Date;
  /** JSON of MonitorState. */
  readonly state: string;
}

/** Reads the monitors of an account by id, those with this tag if one is given. */
export async function readSnapshotRows(
  sql: Queryable,
  accountId: number,
  tag: string | null,
): Promise<readonly SnapshotRow[]> {
  return sql<SnapshotRow[]>`
    select m.id, m.name, m.url, m.check_type as "checkType", m.is_active as "isActive", m.tags,
      m.created_at as "createdAt", t.state
    from monitors as m join monitor_states as t on t.monitor_id = m.id
    where m.account_id = ${accountId} and (${tag}::text is null or ${tag} = any(m.tags))
    order by m.id`;
}

/** The newest check of a monitor at one location. */
export interface SlotRow {
  readonly monitorId: number;
  readonly location: string;
  readonly intervalSeconds: number;
  readonly timeoutSeconds: number;
  /** null: no check yet. */
  readonly checkedAt: Date | null;
  readonly lagMs: number | null;
  /** null: no answer. */
  readonly responseMs: number | null;
  /** Text of phases.ts. */
  readonly phases: string | null;
}

/** Reads the newest checks of monitors at all their locations, by monitor and location. */
export async function readSlotRows(sql: Queryable, monitorIds: readonly number[]): Promise<readonly SlotRow[]> {
  return sql<SlotRow[]>`
    select monitor_id as "monitorId", location, interval_seconds as "intervalSeconds",
      timeout_seconds as "timeoutSeconds", checked_at as "checkedAt", lag_ms as "lagMs", response_ms as "responseMs",
      phases
    from monitor_slots where monitor_id = any(${[...monitorIds]}::bigint[]) order by monitor_id, location`;
}
