import type { Queryable, Sql } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import type { RunStatus } from "#control-plane/checks/jobs/durable-run/status.ts";
import { createRunTable } from "#control-plane/checks/jobs/durable-run/table.ts";
import type { ClaimedRun, RunLease } from "#control-plane/checks/jobs/durable-run/work.ts";

/** Notification channel. A measurement's id is sent on it when the measurement changes. */
export const MEASUREMENT_CHANNEL = "vantage_measurements";

/** A stored measurement; `params` and `expression` are JSON. */
export interface StoredMeasurement extends ClaimedRun {
  readonly accountId: number;
  readonly tool: string;
  readonly params: string;
  /** Items of the location expression; null if the control plane chooses one probe. */
  readonly expression: string | null;
  readonly status: RunStatus;
  readonly shareId: string | null;
  readonly events: number;
  readonly dropped: number;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
}

/** A measurement with the counts that lists show. */
export interface ListedMeasurement extends StoredMeasurement {
  readonly total: number;
  readonly completed: number;
}

/** One stored location; `location` and `result` are JSON. The other fields are null while it has no result. */
export interface StoredLocation {
  readonly ordinal: number;
  readonly location: string;
  readonly status: "ok" | "failed" | null;
  /** Data if status is ok, error if it is failed. */
  readonly result: string | null;
  readonly durationMs: number | null;
}

/** A measurement to insert. */
type NewMeasurement = Pick<
  StoredMeasurement,
  "id" | "accountId" | "tool" | "params" | "expression" | "status" | "shareId" | "createdAt"
> & { readonly expiresAt: Date };

/**
 * Inserts a measurement and its locations in one statement. If its status is not pending, its start and end are the
 * time of its creation.
 */
export async function insertMeasurement(
  sql: Queryable,
  made: NewMeasurement,
  locations: readonly StoredLocation[],
): Promise<void> {
  const endedAt = made.status === "pending" ? null : made.createdAt;
  await sql`
    with measurement as (
      insert into measurements
        (id, account_id, tool, params, expression, status, share_id, created_at, started_at, finished_at, expires_at)
      values (${made.id}, ${made.accountId}, ${made.tool}, ${made.params}, ${made.expression}, ${made.status},
        ${made.shareId}, ${made.createdAt}, ${endedAt}, ${endedAt}, ${made.expiresAt})
      returning id
    )
    insert into measurement_locations (measurement_id, ordinal, location, status, result, duration_ms)
    select measurement.id, given.* from measurement, ${given(sql, locations, {
      ordinal: "integer",
      location: "text",
      status: "text",
      result: "text",
      durationMs: "integer",
    })}`;
}

/** Claims a measurement: from now on only this claim can write. Returns null if it has ended or is deleted. */
export async function claimMeasurement(sql: Sql, id: string, now: Date): Promise<StoredMeasurement | null> {
  return MEASUREMENT_RUNS.claim(sql, id, now);
}

/** Returns the locations of a measurement, in order. */
export async function readLocations(sql: Queryable, id: string): Promise<readonly StoredLocation[]> {
  return sql<StoredLocation[]>`
    select ${locationColumns(sql)} from measurement_locations where measurement_id = ${id} order by ordinal`;
}

/** Returns how many probes began in earlier attempts, by ordinal of location. Locations without any are missing. */
export async function readAttempts(sql: Sql, id: string): Promise<ReadonlyMap<number, number>> {
  const rows = await sql<{ ordinal: number; attempts: number }[]>`
    select ordinal, max(coalesce(attempt, 1)) as attempts
    from measurement_events where measurement_id = ${id} and event in ('probe', 'restart') group by ordinal`;
  return new Map(rows.map((row) => [row.ordinal, row.attempts]));
}

/** Ends a measurement whose locations all have a result: failed if none is ok. Returns null if nothing changed. */
export async function finishMeasurement(sql: Sql, lease: RunLease, now: Date): Promise<RunStatus | null> {
  const open = sql`select from measurement_locations where measurement_id = ${lease.id} and status is null`;
  const succeeded = sql`select from measurement_locations where measurement_id = ${lease.id} and status = 'ok'`;
  return MEASUREMENT_RUNS.finish(sql, lease, { open, succeeded }, now);
}

/** Finds a measurement of an account; null if there is none with this id or it has expired. */
export async function findMeasurement(
  sql: Queryable,
  accountId: number,
  id: string,
  now: Date,
): Promise<StoredMeasurement | null> {
  const [row] = await sql<StoredMeasurement[]>`
    select ${columns(sql)} from measurements
    where id = ${id} and account_id = ${accountId} and expires_at > ${now}`;
  return row ?? null;
}

/** Finds a measurement by the id of its public page; null if there is none or it has expired. */
export async function findShared(sql: Sql, shareId: string, now: Date): Promise<StoredMeasurement | null> {
  const [row] = await sql<StoredMeasurement[]>`
    select ${columns(sql)} from measurements where share_id = ${shareId} and expires_at > ${now}`;
  return row ?? null;
}

/** Lists the measurements of an account with some tools, newest first; null: with all. */
export async function listMeasurements(
  sql: Queryable,
  accountId: number,
  tools: readonly string[] | null,
  now: Date,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<readonly ListedMeasurement[]> {
  return sql<ListedMeasurement[]>`
    select page.*, counts.* from (
      select ${columns(sql)} from measurements
      where account_id = ${accountId} and expires_at > ${now} and ${isOneOf(sql, tools)}
      order by created_at desc, id desc limit ${limit} offset ${offset}
    ) as page cross join lateral (
      select count(*) as total, count(status) as completed from measurement_locations where measurement_id = page.id
    ) as counts
    order by page."createdAt" desc, page.id desc`;
}

/** Counts the measurements of an account with some tools that have not expired; null: with all. */
export async function countMeasurements(
  sql: Sql,
  accountId: number,
  tools: readonly string[] | null,
  now: Date,
): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*) as total from measurements
    where account_id = ${accountId} and expires_at > ${now} and ${isOneOf(sql, tools)}`;
  return row?.total ?? 0;
}

function isOneOf(sql: Queryable, tools: readonly string[] | null) {
  return tools === null ? sql`true` : sql`tool = any(${[...tools]}::text[])`;
}

function columns(sql: Queryable) {
  return sql`id, account_id as "accountId", tool, params, expression, status, share_id as "shareId", run, events,
    dropped, waiting_since as "waitingSince", created_at as "createdAt", started_at as "startedAt", finished_at as "finishedAt"`;
}

function locationColumns(sql: Queryable) {
  return sql`ordinal, location, status, result, duration_ms as "durationMs"`;
}

/** Statements that claim, end and delete measurements. */
export const MEASUREMENT_RUNS = createRunTable<StoredMeasurement>(
  { table: "measurements", channel: MEASUREMENT_CHANNEL },
  columns,
);
