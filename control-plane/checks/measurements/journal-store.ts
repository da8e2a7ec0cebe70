import type { Sql } from "#control-plane/core/database/connect.ts";
import type { RunLease } from "#control-plane/checks/jobs/durable-run/work.ts";
import { MEASUREMENT_CHANNEL, type StoredLocation } from "#control-plane/checks/measurements/store.ts";

/** One event at a location. A `result` event also has the result row; its `data` holds only what the row does not. */
export interface NewEvent {
  readonly event: string;
  readonly ordinal: number;
  readonly data: string;
  /** Number of probes that had begun at the location, this one included; absent if it does not matter. */
  readonly attempt?: number;
  readonly result: Omit<StoredLocation, "ordinal"> | null;
}

/**
 * Writes the events that follow the first `after` events, in one statement. Events are numbered in their order and each
 * result is stored once. A repeated call, made because the reply to the first was lost, writes nothing and returns
 * true. Returns false and writes nothing if the measurement has ended, is deleted or belongs to a newer claim.
 */
export async function recordEvents(
  sql: Sql,
  { id, run }: RunLease,
  events: readonly NewEvent[],
  after: number,
  dropped: number,
): Promise<boolean> {
  const rows = await sql`
    with mine as (
      update measurements set events = events + ${events.length}, dropped = dropped + ${dropped}
      where id = ${id} and run = ${run} and status = 'running' and events = ${after}
      returning events - ${events.length} as before
    ), given as (
      select * from unnest(
        ${events.map((_event, index) => index + 1)}::integer[],
        ${events.map(({ event }) => event)}::text[],
        ${events.map(({ ordinal }) => ordinal)}::integer[],
        ${events.map(({ data }) => data)}::text[],
        ${events.map(({ attempt }) => attempt ?? null)}::integer[],
        ${events.map(({ result }) => result?.status ?? null)}::text[],
        ${events.map(({ result }) => result?.location ?? null)}::text[],
        ${events.map(({ result }) => result?.result ?? null)}::text[],
        ${events.map(({ result }) => result?.durationMs ?? null)}::integer[]
      ) as given (place, event, ordinal, data, attempt, status, location, result, duration_ms)
    ), stored as (
      update measurement_locations as kept
      set status = given.status, location = given.location, result = given.result, duration_ms = given.duration_ms
      from given, mine
      where kept.measurement_id = ${id} and kept.ordinal = given.ordinal and kept.status is null
        and given.status is not null
      returning kept.ordinal
    ), inserted as (
      insert into measurement_events (measurement_id, number, event, ordinal, data, attempt)
      select ${id}, before + place, event, ordinal, data, attempt from given, mine
      where status is null or ordinal in (select ordinal from stored)
    )
    select pg_notify(${MEASUREMENT_CHANNEL}, ${id}) from mine`;
  if (rows.length > 0) return true;
  const [written] = await sql`
    select from measurements
    where id = ${id} and run = ${run} and status = 'running' and events = ${after + events.length}
      and ${events.length} > 0`;
  return written !== undefined;
}
