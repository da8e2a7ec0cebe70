import type { Queryable } from "#control-plane/core/database/connect.ts";
import { encodeState } from "#control-plane/outages/state/encoding.ts";
import { NEW_STATE } from "#control-plane/outages/state/state.ts";

/** Inserts the states of new monitors. */
export async function insertStates(sql: Queryable, monitorIds: readonly number[]): Promise<void> {
  await sql`
    insert into monitor_states (monitor_id, status, state)
    select monitor_id, ${NEW_STATE.status}, ${encodeState(NEW_STATE)}
    from unnest(${[...monitorIds]}::bigint[]) as given (monitor_id)`;
}

/**
 * Makes the states of monitors those of new ones: after a resumption, or a change of what is checked. The versions
 * rise, so that the writer of an observation that is under way notices it. They must be locked (lockMonitors).
 */
export async function resetStates(sql: Queryable, monitorIds: readonly number[]): Promise<void> {
  await sql`
    update monitor_states
    set status = ${NEW_STATE.status}, state = ${encodeState(NEW_STATE)}, state_version = state_version + 1,
      visit_at = '-infinity'
    where monitor_id = any(${[...monitorIds]}::bigint[])`;
}
