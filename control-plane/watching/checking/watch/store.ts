import type { Queryable, Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import { toInteger } from "#control-plane/core/database/integer.ts";

/** An observation with the state that follows from it, to be recorded once. Times are Unix milliseconds. */
export interface NewRecord {
  readonly monitorId: number;
  readonly location: string;
  /** The claim that may record it. */
  readonly lease: number;
  /** Version of the state that `state` follows from. */
  readonly stateVersion: number;
  readonly status: "up" | "down" | "unknown";
  /** JSON of MonitorState. */
  readonly state: string;
  /** Planned time of the next check. */
  readonly nextPlannedAt: number;
  /** Next extra check of this schedule entry; null: none. */
  readonly extraAt: number | null;
  /** Value of extra_at when the schedule entry was claimed: a later wish stays. */
  readonly claimedExtraAt: number | null;
  readonly check: NewCheck;
  /** Extra checks of the monitor's other locations. */
  readonly rechecks: readonly { readonly location: string; readonly at: number }[];
}

/** The row of a check in the history. */
interface NewCheck {
  /** Unix milliseconds of its beginning. */
  readonly checkedAt: number;
  /** 1 up, 2 down, 3 unknown, 4 degraded. */
  readonly status: number;
  readonly responseMs: number | null;
  readonly httpStatus: number | null;
  /** Parts of responseMs (checking/snapshots/phases.ts); null: not measured. */
  readonly phases: string | null;
  /** What a good check found (checking/snapshots/good-check.ts); null if it was not good. */
  readonly good: string | null;
  /** More than 24.8 days, after a long stop of the service, are stored as that (database/integer.ts). */
  readonly lagMs: number;
  readonly isRecheck: boolean;
  /** Planned checks after this one that were never run. */
  readonly missed: number;
  /** JSON of CheckFault; null if the check succeeded. */
  readonly fault: string | null;
}

/**
 * Records observations of different monitors in one statement. An observation is recorded if its claim still holds the
 * schedule entry and the state is still the one that was read. Returns the indexes of those that were recorded. It
 * locks the states and then the schedule entries, in the order of all writers (see lockMonitors).
 */
export async function recordAll(sql: Queryable, records: readonly NewRecord[]): Promise<ReadonlySet<number>> {
  const rechecks = records.flatMap(({ monitorId, rechecks: wanted }, index) =>
    wanted.map(({ location, at }) => ({ index, monitorId, location, at })),
  );
  const rows = await sql<{ index: number }[]>`
    with given as (
      select * from unnest(
        ${records.map((_, index) => index)}::integer[],
        ${records.map(({ monitorId }) => monitorId)}::bigint[],
        ${records.map(({ location }) => location)}::text[],
        ${records.map(({ lease }) => lease)}::bigint[],
        ${records.map(({ stateVersion }) => stateVersion)}::bigint[],
        ${records.map(({ status }) => status)}::text[],
        ${records.map(({ state }) => state)}::text[],
        ${records.map(({ nextPlannedAt }) => timeOf(nextPlannedAt))}::timestamptz[],
        ${records.map(({ extraAt }) => timeOf(extraAt))}::timestamptz[],
        ${records.map(({ claimedExtraAt }) => timeOf(claimedExtraAt))}::timestamptz[],
        ${records.map(({ check }) => timeOf(check.checkedAt))}::timestamptz[],
        ${records.map(({ check }) => check.status)}::smallint[],
        ${records.map(({ check }) => check.responseMs)}::integer[],
        ${records.map(({ check }) => check.httpStatus)}::smallint[],
        ${records.map(({ check }) => toInteger(check.lagMs))}::integer[],
        ${records.map(({ check }) => (check.isRecheck ? 1 : 0))}::integer[],
        ${records.map(({ check }) => check.missed)}::integer[],
        ${records.map(({ check }) => check.phases)}::text[],
        ${records.map(({ check }) => check.good)}::text[],
        ${records.map(({ check }) => check.fault)}::text[]
      ) as given (index, monitor_id, location, lease, state_version, status, state, planned_at, extra_at,
        claimed_extra_at, checked_at, check_status, response_ms, http_status, lag_ms, is_recheck, missed, phases, good,
        fault)
    ), wishes as (
      select * from unnest(
        ${rechecks.map(({ index }) => index)}::integer[],
        ${rechecks.map(({ monitorId }) => monitorId)}::bigint[],
        ${rechecks.map(({ location }) => location)}::text[],
        ${rechecks.map(({ at }) => timeOf(at))}::timestamptz[]
      ) as wish (index, monitor_id, location, at)
    ), current as materialized (
      select g.index from given as g
      join monitor_states as t on t.monitor_id = g.monitor_id and t.state_version = g.state_version
      order by g.monitor_id for update of t
    ), slots as materialized (
      select touched.index, s.location, s.lease from current join (
        select index, monitor_id, location from given union all select index, monitor_id, location from wishes
      ) as touched using (index)
      join monitor_slots as s on s.monitor_id = touched.monitor_id and s.location = touched.location
      order by s.monitor_id, s.location for update of s
    ), held as materialized (
      select g.index from given as g
      join slots as s on s.index = g.index and s.location = g.location and s.lease = g.lease
    ), stated as (
      update monitor_states as t
      set state_version = t.state_version + 1, status = g.status, state = g.state
      from given as g join held using (index) where t.monitor_id = g.monitor_id
    ), settled as (
      update monitor_slots as s
      set lease = 0, planned_at = g.planned_at, checked_at = g.checked_at, lag_ms = g.lag_ms,
        response_ms = g.response_ms, phases = g.phases, good = coalesce(g.good, s.good),
        good_at = case when g.good is null then s.good_at else g.checked_at end,
        is_requested = s.is_requested and s.extra_at is distinct from g.claimed_extra_at,
        extra_at = least(g.extra_at, case when s.extra_at is distinct from g.claimed_extra_at then s.extra_at end),
        due_at = least(g.planned_at, g.extra_at,
          case when s.extra_at is distinct from g.claimed_extra_at then s.extra_at end)
      from given as g join held using (index)
      where s.monitor_id = g.monitor_id and s.location = g.location
    ), wanted as (
      update monitor_slots as s
      set extra_at = least(s.extra_at, r.at), due_at = least(s.due_at, r.at)
      from wishes as r join held using (index)
      where s.monitor_id = r.monitor_id and s.location = r.location
    ), inserted as (
      insert into checks (monitor_id, checked_at, location, status, response_ms, http_status, lag_ms, is_recheck,
        missed, fault)
      select g.monitor_id, g.checked_at, g.location, g.check_status, g.response_ms, g.http_status, g.lag_ms,
        g.is_recheck = 1, g.missed, g.fault
      from given as g join held using (index)
    )
    select index from held`;
  return new Set(rows.map(({ index }) => index));
}

/** The state of a schedule entry whose observation was not recorded. */
interface CurrentState {
  readonly monitorId: number;
  readonly location: string;
  /** The claim that holds the schedule entry now; 0: none. */
  readonly lease: number;
  readonly stateVersion: number;
  /** JSON of MonitorState. */
  readonly state: string;
}

/**
 * Reads the present claims and states of schedule entries. Schedule entries of deleted or paused monitors are missing.
 */
export async function readCurrentStates(
  sql: Sql,
  entries: readonly { readonly monitorId: number; readonly location: string }[],
): Promise<readonly CurrentState[]> {
  return sql<CurrentState[]>`
    select s.monitor_id as "monitorId", s.location, s.lease, t.state_version as "stateVersion", t.state
    from ${given(sql, entries, { monitorId: "bigint", location: "text" })}
    join monitor_slots as s on s.monitor_id = given.monitor_id and s.location = given.location
    join monitor_states as t on t.monitor_id = given.monitor_id`;
}

/** Facts on which notices of a monitor depend. */
export interface NoticeFacts {
  readonly accountId: number;
  readonly name: string;
  readonly url: string;
  readonly checkType: string;
  readonly tags: readonly string[];
  /** The monitor it depends on; null: none. */
  readonly dependsOn: number | null;
  /** JSON of MonitorSettings, as they are now: the claim has those from before its check. */
  readonly settings: string;
  /** JSON of that one's MonitorState. */
  readonly dependencyState: string | null;
  /** Whether a check of that one runs now. */
  readonly isDependencyChecked: boolean;
  readonly dependencyDueAt: Date | null;
}

/**
 * Locks an account, a monitor's state and its schedule entries for this transaction, in the order of all writers (see
 * lockMonitors): what follows refers to the account. Returns null if the claim no longer holds the schedule entry or
 * the state has changed.
 */
export async function lockForRecord(
  tx: Transaction,
  accountId: number,
  { monitorId, location, lease, stateVersion }: Pick<NewRecord, "monitorId" | "location" | "lease" | "stateVersion">,
): Promise<NoticeFacts | null> {
  await tx`select from accounts where id = ${accountId} for key share`;
  const { count } = await tx`
    select from monitor_states where monitor_id = ${monitorId} and state_version = ${stateVersion} for update`;
  if (count === 0) return null;
  // A separate statement: its snapshot is taken when the state is locked, so it sees what earlier holders changed. In the
  // statement that waits for the lock, the other tables would be as they were before the wait.
  const [facts] = await tx<NoticeFacts[]>`
    select m.account_id as "accountId", m.name, m.url, m.check_type as "checkType", m.tags,
      m.depends_on as "dependsOn", m.settings, d.state as "dependencyState",
      coalesce(due.is_checked, false) as "isDependencyChecked", due.due_at as "dependencyDueAt"
    from monitors as m
      left join monitor_states as d on d.monitor_id = m.depends_on
      cross join lateral (
        select bool_or(lease <> 0) as is_checked, min(due_at) filter (where lease = 0) as due_at
        from monitor_slots where monitor_id = m.depends_on
      ) as due
    where m.id = ${monitorId}`;
  if (facts === undefined) return null;
  const entries = await tx<{ location: string; lease: number }[]>`
    select location, lease from monitor_slots where monitor_id = ${monitorId} order by location for update`;
  return entries.some((entry) => entry.location === location && entry.lease === lease) ? facts : null;
}

/** postgres.js cannot send arrays of dates: they are sent as texts. */
function timeOf(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
