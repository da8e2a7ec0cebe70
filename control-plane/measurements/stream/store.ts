import type { Sql } from "#control-plane/database/connect.ts";
import type { RunState } from "#control-plane/jobs/durable-run/watch.ts";
import type { StoredLocation } from "#control-plane/measurements/store.ts";

/** What streams and attempts need to know of a measurement. */
export interface MeasurementState extends RunState {
  /** Number of the newest event. */
  readonly events: number;
}

/** An event as it was kept; of a result the row stands beside it. */
export interface StoredEvent extends Omit<StoredLocation, "ordinal"> {
  readonly number: number;
  readonly event: string;
  /** JSON. */
  readonly data: string;
}

/** The states of these measurements, in no order; those that are gone are missing. */
export async function readStates(sql: Sql, ids: readonly string[]): Promise<readonly MeasurementState[]> {
  return sql<MeasurementState[]>`select id, status, run, events from measurements where id = any(${[...ids]}::text[])`;
}

/** Events that are read at once. */
const PAGE = 100;
/** Results among them, of up to 256 KB each: a page is held for as long as its reader is slow. */
const RESULTS = 4;

/** Some events after a number, oldest first; [] where there are none. */
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
