import type { Sql } from "#control-plane/core/database/connect.ts";
import type { RunState } from "#control-plane/checks/jobs/durable-run/watch.ts";
import type { StoredLocation } from "#control-plane/checks/measurements/store.ts";

/** State of a measurement that streams and attempts watch. */
export interface MeasurementState extends RunState {
  /** Number of the newest event. */
  readonly events: number;
}

/** A stored event. A `result` event comes with the result row of its location. */
export interface StoredEvent extends Omit<StoredLocation, "ordinal"> {
  readonly number: number;
  readonly event: string;
  /** JSON. */
  readonly data: string;
}

/** Returns the states of these measurements, in any order. Deleted measurements are missing. */
export async function readStates(sql: Sql, ids: readonly string[]): Promise<readonly MeasurementState[]> {
  return sql<MeasurementState[]>`select id, status, run, events from measurements where id = any(${[...ids]}::text[])`;
}

/** Maximum number of events in one page. */
const PAGE = 100;
/** Maximum number of results in one page, each up to 256 KB: a slow reader keeps a page in memory. */
const RESULTS = 4;

/** Returns one page of events after the given number, oldest first; empty if there are none. */
export async function readEvents(sql: Sql, id: string, after: number): Promise<readonly StoredEvent[]> {
  return sql<StoredEvent[]>`
    with page as (
      select number, event, data, ordinal
      from measurement_events where measurement_id = ${id} and number > ${after} order by number limit ${PAGE}
    ), counted as (
      select *, count(*) filter (where event = 'result') over (order by number) as results from page
    )
    select number, event, data, location, status, result, duration_ms as "durationMs"
    from counted left join measurement_locations as place
      on event = 'result' and place.measurement_id = ${id} and place.ordinal = counted.ordinal
    where results <= ${RESULTS} order by number`;
}
