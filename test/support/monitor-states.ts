import type { Queryable } from "#control-plane/core/database/connect.ts";
import { decodeState } from "#control-plane/outages/state/encoding.ts";
import type { MonitorState } from "#control-plane/outages/state/state.ts";

/** A state with its version, which a writer of the next state names. */
interface StoredState {
  readonly state: MonitorState;
  readonly version: number;
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
