import type { Sql } from "#control-plane/database/connect.ts";
import type { MeasurementStatus, StoredLocation } from "#control-plane/measurements/store.ts";

/** Where a measurement stands. */
export interface MeasurementState {
  readonly id: string;
  readonly status: MeasurementStatus;
  readonly run: number;
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

/** Where measurements stand, in no order; those that are gone are missing. */
export async function readStates(sql: Sql, ids: readonly string[]): Promise<readonly MeasurementState[]> {
  return sql<MeasurementState[]>`select id, status, run, events from measurements where id = any(${[...ids]}::text[])`;
}

/** The events after a number, oldest first. */
export async function readEvents(sql: Sql, id: string, after: number, limit: number): Promise<readonly StoredEvent[]> {
  return sql<StoredEvent[]>`
    select number, event, data, location, status, result, duration_ms as "durationMs"
    from measurement_events left join measurement_locations as place
      on event = 'result' and place.measurement_id = ${id} and place.ordinal = measurement_events.ordinal
    where measurement_events.measurement_id = ${id} and number > ${after}
    order by number limit ${limit}`;
}
