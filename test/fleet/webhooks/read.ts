import type { Sql } from "#control-plane/core/database/connect.ts";
import type { AttemptRow, DeliveryRow, EventRow } from "#test/fleet/webhooks/records.ts";

/** Reads what a run left in the database. Needs track_commit_timestamp: no row of an event is ever changed. */
export async function readDatabase(sql: Sql): Promise<{
  readonly events: readonly EventRow[];
  readonly deliveries: readonly DeliveryRow[];
  readonly attempts: readonly AttemptRow[];
}> {
  const ms = (column: string) => sql.unsafe(`(extract(epoch from ${column}) * 1000)::float8`);
  const events = await sql<EventRow[]>`
    select id, monitor_id as "monitorId", type, body, ${ms("created_at")} as "createdAt",
      ${ms("pg_xact_commit_timestamp(xmin)")} as "committedAt"
    from events where type in ('monitor.down', 'monitor.up') order by created_at, id`;
  const deliveries = await sql<DeliveryRow[]>`
    select id, event_id as "eventId", receiver_id as "webhookId", replay_of as "replayOf", status, attempts, error_code as "errorCode",
      ${ms("created_at")} as "createdAt", ${ms("delivered_at")} as "deliveredAt"
    from deliveries where channel = 'webhook' order by id`;
  const attempts = await sql<AttemptRow[]>`
    select delivery_id as "deliveryId", attempt, ${ms("started_at")} as "startedAt", ${ms("ended_at")} as "endedAt",
      response_code as code, error_code as "errorCode"
    from delivery_attempts order by delivery_id, attempt`;
  return { events, deliveries, attempts };
}
