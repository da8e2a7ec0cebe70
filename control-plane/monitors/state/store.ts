import type { Queryable } from "#control-plane/database/connect.ts";
import { decodeState, encodeState } from "#control-plane/monitors/state/encoding.ts";
import { NEW_STATE, type MonitorState } from "#control-plane/monitors/state/state.ts";

/** A state with its version, which a writer of the next state names. */
interface StoredState {
  readonly state: MonitorState;
  readonly version: number;
}

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

/** Returns the states of monitors by id. Deleted monitors are missing. */
export async function readStates(
  sql: Queryable,
  monitorIds: readonly number[],
): Promise<ReadonlyMap<number, StoredState>> {
  const rows = await sql<{ id: number; text: string; version: number }[]>`
    select monitor_id as id, state as text, state_version as version from monitor_states
    where monitor_id = any(${[...monitorIds]}::bigint[])`;
  return new Map(rows.map(({ id, text, version }) => [id, { state: decodeState(text), version }]));
}
