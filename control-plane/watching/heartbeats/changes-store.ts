import type { Queryable, Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import type { RecordRow } from "#control-plane/watching/heartbeats/rows.ts";
import { recordColumns } from "#control-plane/watching/heartbeats/store.ts";

/** A heartbeat whose rows are locked, with the facts on which its notices depend. */
export interface LockedHeartbeat extends RecordRow {
  readonly monitorId: number;
  readonly accountId: number;
  readonly name: string;
  readonly url: string;
  readonly isActive: boolean;
  readonly tags: readonly string[];
  /** JSON of MonitorSettings. */
  readonly settings: string;
  /** JSON of MonitorState. */
  readonly state: string;
  readonly version: number;
  readonly sweepAt: Date | null;
  /** The monitor it depends on; null: none. */
  readonly dependsOn: number | null;
  /** JSON of that one's MonitorState. */
  readonly dependencyState: string | null;
  /** Whether a check of that one runs now. */
  readonly isDependencyChecked: boolean;
  readonly dependencyDueAt: Date | null;
  /** End of the time without a replica into which the deadline falls; null: it falls into none. */
  readonly outageEndedAt: Date | null;
}

/**
 * Locks heartbeats for this transaction, in the order of all writers: the accounts, the states of the monitors by id,
 * then the heartbeats by id. `skip`: those whose state another transaction has locked are left out. `stopsPings`: the
 * heartbeats are locked too, so their pings wait. Otherwise they are only read, and their pings go on.
 */
export async function lockHeartbeats(
  tx: Transaction,
  ids: readonly number[],
  { skip, stopsPings }: { readonly skip: boolean; readonly stopsPings: boolean },
): Promise<readonly LockedHeartbeat[]> {
  await tx`
    select from accounts where id in (select account_id from monitors where id = any(${[...ids]}::bigint[]))
    order by id for key share`;
  const states = await tx<{ id: number }[]>`
    select monitor_id as id from monitor_states where monitor_id = any(${[...ids]}::bigint[])
    order by monitor_id for update ${skip ? tx`skip locked` : tx``}`;
  const locked = states.map(({ id }) => id);
  // A separate statement: its snapshot is taken when the states are locked, so it sees what earlier holders wrote.
  return tx<LockedHeartbeat[]>`
    select h.monitor_id as "monitorId", h.version, h.sweep_at as "sweepAt", ${recordColumns(tx, "h")},
      m.account_id as "accountId", m.name, m.url, m.is_active as "isActive", m.tags, m.settings, t.state,
      m.depends_on as "dependsOn", d.state as "dependencyState",
      coalesce(due.is_checked, false) as "isDependencyChecked", due.due_at as "dependencyDueAt",
      o.ended_at as "outageEndedAt"
    from heartbeats as h join monitors as m on m.id = h.monitor_id
      join monitor_states as t on t.monitor_id = h.monitor_id
      left join monitor_states as d on d.monitor_id = m.depends_on
      left join lateral (
        select bool_or(lease <> 0) as is_checked, min(due_at) filter (where lease = 0) as due_at
        from monitor_slots where monitor_id = m.depends_on
      ) as due on m.depends_on is not null
      left join lateral (
        select max(ended_at) as ended_at from service_outages
        where started_at < h.deadline_at and ended_at >= h.deadline_at
      ) as o on true
    where h.monitor_id = any(${locked}::bigint[]) order by h.monitor_id ${stopsPings ? tx`for update of h` : tx``}`;
}

/** The state that follows from a change. */
interface ChangedState {
  readonly monitorId: number;
  readonly status: "up" | "down" | "unknown";
  /** JSON of MonitorState. */
  readonly state: string;
}

/** A heartbeat that time changed. */
export interface ChangedHeartbeat extends ChangedState {
  /** Unix milliseconds. */
  readonly deadlineAt: number | null;
  /** Unix milliseconds of the next sweep; null: none is needed before the next ping. */
  readonly sweepAt: number | null;
}

/** Writes the states and the deadlines of locked heartbeats. */
export async function writeChanges(tx: Transaction, changes: readonly ChangedHeartbeat[]): Promise<void> {
  await tx`
    with given as (
      select * from ${given(tx, changes, {
        monitorId: "bigint",
        status: "text",
        state: "text",
        deadlineAt: "timestamptz",
        sweepAt: "timestamptz",
      })}
    ), stated as (
      update monitor_states as t set state_version = t.state_version + 1, status = g.status, state = g.state
      from given as g where t.monitor_id = g.monitor_id
    )
    update heartbeats as h set deadline_at = g.deadline_at, sweep_at = g.sweep_at, version = h.version + 1
    from given as g where h.monitor_id = g.monitor_id`;
}

/** A heartbeat whose state follows the verdict of a ping. */
export interface JudgedHeartbeat extends ChangedState {
  /** Number of the ping. */
  readonly number: number;
  /**
   * Unix milliseconds of the next sweep; null: none is needed before the next ping, or before its deadline if it is up.
   */
  readonly sweepAt: number | null;
}

/**
 * Writes the states of heartbeats that follow the verdicts of pings. Pings can have been recorded since they were read:
 * the newest deadline counts, and a sweep stays due if there is a newer verdict. The rows are locked in the order of
 * writePings, and only from here on, so that pings do not wait for what follows from others.
 */
export async function writeJudged(tx: Transaction, judged: readonly JudgedHeartbeat[]): Promise<void> {
  await tx`
    with given as (
      select * from ${given(tx, judged, {
        monitorId: "bigint",
        status: "text",
        state: "text",
        number: "bigint",
        sweepAt: "timestamptz",
      })}
    ), stated as (
      update monitor_states as t set state_version = t.state_version + 1, status = g.status, state = g.state
      from given as g where t.monitor_id = g.monitor_id
    ), locked as materialized (
      select h.monitor_id from heartbeats as h join given as g on g.monitor_id = h.monitor_id
      order by h.monitor_id for update of h
    )
    update heartbeats as h set judged_number = g.number, sweep_at = case
        when h.verdict_number > g.number then h.sweep_at
        when g.status = 'down' then g.sweep_at
        else least(h.deadline_at, g.sweep_at)
      end
    from given as g join locked using (monitor_id) where h.monitor_id = g.monitor_id`;
}

/** Plans the next sweeps of locked heartbeats that need nothing now. Times are Unix milliseconds. */
export async function moveSweeps(
  sql: Queryable,
  waiting: readonly { readonly monitorId: number; readonly sweepAt: number | null }[],
): Promise<void> {
  await sql`
    update heartbeats as h set sweep_at = given.sweep_at
    from ${given(sql, waiting, { monitorId: "bigint", sweepAt: "timestamptz" })}
    where h.monitor_id = given.monitor_id`;
}

/** Lists heartbeats that are due for a sweep, the most overdue first. */
export async function listDue(sql: Sql, now: Date, limit: number): Promise<readonly number[]> {
  const rows = await sql<{ id: number }[]>`
    select monitor_id as id from heartbeats where sweep_at <= ${now} order by sweep_at limit ${limit}`;
  return rows.map(({ id }) => id);
}
