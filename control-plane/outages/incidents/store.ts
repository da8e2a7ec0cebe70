import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import type { AffectedLocation, Incident, Status } from "#control-plane/outages/incidents/incident.ts";

/** Columns of an incident; `locations` is JSON. */
export interface IncidentRow extends Pick<
  Incident,
  | "id"
  | "accountId"
  | "monitorIds"
  | "pageIds"
  | "title"
  | "status"
  | "impact"
  | "isPublic"
  | "startedAt"
  | "confirmedAt"
  | "recoveredAt"
  | "resolvedAt"
  | "suppressedBy"
  | "entryCount"
> {
  readonly monitorId: number | null;
  readonly monitorName: string | null;
  readonly monitorUrl: string | null;
  readonly checkType: string | null;
  readonly causeCode: string | null;
  readonly causeMessage: string | null;
  /** null: the cause has not changed. */
  readonly causeNowCode: string | null;
  readonly causeNowMessage: string | null;
  readonly locations: string;
  readonly acknowledgedAt: Date | null;
  readonly acknowledgedBy: string | null;
}

/** An incident opened by hand, to be inserted. */
type NewIncident = Pick<
  Incident,
  "accountId" | "monitorIds" | "pageIds" | "title" | "status" | "impact" | "isPublic" | "startedAt" | "resolvedAt"
>;

/** Filter of a list of incidents; an absent field matches every incident. */
export interface IncidentFilter {
  readonly monitorId?: number;
  readonly status?: Status | "open";
  /** Whether a person opened it. */
  readonly isManual?: boolean;
}

/**
 * Inserts an incident opened by hand. Returns null if the account already has `mostOpen` open ones that were opened by
 * hand.
 */
export async function insertIncident(sql: Queryable, made: NewIncident, mostOpen: number): Promise<Incident | null> {
  const [row] = await sql<IncidentRow[]>`
    insert into incidents (account_id, monitor_ids, page_ids, title, status, impact, is_public, is_announced,
      started_at, confirmed_at, resolved_at, locations, entry_count)
    select ${made.accountId}, ${[...made.monitorIds]}::bigint[], ${[...made.pageIds]}::bigint[], ${made.title},
      ${made.status}, ${made.impact}, ${made.isPublic}, ${made.isPublic}, ${made.startedAt}::timestamptz,
      ${made.startedAt}::timestamptz, ${made.resolvedAt}::timestamptz, '[]', 0
    where ${mostOpen} > (
      select count(*) from incidents
      where account_id = ${made.accountId} and monitor_id is null and coalesce(resolved_at, 'infinity') = 'infinity'
    )
    returning ${columns(sql)}`;
  return row === undefined ? null : readRow(row);
}

/**
 * Keeps an account from being erased until the transaction ends. Events and answers that follow a change of an incident
 * refer to the account; an erasure locks it before its incidents, and so must every writer (see monitors/store.ts).
 */
export async function shareAccount(tx: Transaction, accountId: number): Promise<void> {
  await tx`select from accounts where id = ${accountId} for key share`;
}

/** Finds an incident of an account; null if there is none. `lock`: other transactions wait until this one has ended. */
export async function findIncident(
  sql: Queryable,
  accountId: number,
  id: number,
  { lock = false }: { readonly lock?: boolean } = {},
): Promise<Incident | null> {
  const [row] = await sql<IncidentRow[]>`
    select ${columns(sql)} from incidents where id = ${id} and account_id = ${accountId}
    ${lock ? sql`for update` : sql``}`;
  return row === undefined ? null : readRow(row);
}

/** Lists a page of incidents, newest first; `oldestFirst`: by their beginning. */
export async function listIncidents(
  sql: Queryable,
  accountId: number,
  filter: IncidentFilter,
  {
    limit,
    offset,
    oldestFirst = false,
  }: { readonly limit: number; readonly offset: number; readonly oldestFirst?: boolean },
): Promise<readonly Incident[]> {
  const rows = await sql<IncidentRow[]>`
    select ${columns(sql)} from incidents where ${matches(sql, accountId, filter)}
    order by ${oldestFirst ? sql`started_at, id` : sql`id desc`} limit ${limit} offset ${offset}`;
  return rows.map(readRow);
}

/** Counts the incidents that match a filter. */
export async function countIncidents(sql: Queryable, accountId: number, filter: IncidentFilter): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*) as total from incidents where ${matches(sql, accountId, filter)}`;
  return row?.total ?? 0;
}

/** Stores what people can change about an incident, and its status. */
export async function updateIncident(sql: Queryable, incident: Incident): Promise<void> {
  await sql`
    update incidents set title = ${incident.title}, impact = ${incident.impact}, is_public = ${incident.isPublic},
      page_ids = ${[...incident.pageIds]}::bigint[], status = ${incident.status}, resolved_at = ${incident.resolvedAt},
      acknowledged_at = ${incident.acknowledged?.at ?? null}, acknowledged_by = ${incident.acknowledged?.by ?? null}
    where id = ${incident.id}`;
}

/** Notes that visitors are informed of an incident. Returns false if they were before. */
export async function markAnnounced(sql: Queryable, id: number): Promise<boolean> {
  const { count } = await sql`update incidents set is_announced = true where id = ${id} and not is_announced`;
  return count > 0;
}

function matches(sql: Queryable, accountId: number, { monitorId, status, isManual }: IncidentFilter) {
  const ofMonitor = monitorId === undefined ? sql`true` : sql`monitor_ids @> array[${monitorId}::bigint]`;
  const ofStatus =
    status === undefined
      ? sql`true`
      : status === "open"
        ? sql`coalesce(resolved_at, 'infinity') = 'infinity'`
        : sql`status = ${status}`;
  const ofKind = isManual === undefined ? sql`true` : sql`(monitor_id is null) = ${isManual}`;
  return sql`account_id = ${accountId} and ${ofMonitor} and ${ofStatus} and ${ofKind}`;
}

/** Returns the columns of IncidentRow. */
export function columns(sql: Queryable) {
  return sql`id, account_id as "accountId", monitor_id as "monitorId", monitor_name as "monitorName",
    monitor_url as "monitorUrl", check_type as "checkType", monitor_ids as "monitorIds", page_ids as "pageIds", title,
    status, impact, is_public as "isPublic", started_at as "startedAt", confirmed_at as "confirmedAt",
    recovered_at as "recoveredAt", resolved_at as "resolvedAt", cause_code as "causeCode",
    cause_message as "causeMessage", cause_now_code as "causeNowCode", cause_now_message as "causeNowMessage", locations, suppressed_by as "suppressedBy", acknowledged_at as "acknowledgedAt",
    acknowledged_by as "acknowledgedBy", entry_count as "entryCount"`;
}

/** Converts a row. */
export function readRow(row: IncidentRow): Incident {
  const { monitorId, monitorName, monitorUrl, checkType, causeCode, causeMessage, causeNowCode } = row;
  const cause = causeCode === null ? null : { code: causeCode, message: causeMessage ?? "" };
  return {
    id: row.id,
    accountId: row.accountId,
    monitor:
      monitorId === null
        ? null
        : { id: monitorId, name: monitorName ?? "", url: monitorUrl, checkType: checkType ?? "" },
    monitorIds: row.monitorIds,
    pageIds: row.pageIds,
    title: row.title,
    status: row.status,
    impact: row.impact,
    isPublic: row.isPublic,
    startedAt: row.startedAt,
    confirmedAt: row.confirmedAt,
    recoveredAt: row.recoveredAt,
    resolvedAt: row.resolvedAt,
    cause,
    causeNow: causeNowCode === null ? cause : { code: causeNowCode, message: row.causeNowMessage ?? "" },
    locations: JSON.parse(row.locations) as readonly AffectedLocation[],
    suppressedBy: row.suppressedBy,
    acknowledged: row.acknowledgedAt === null ? null : { at: row.acknowledgedAt, by: row.acknowledgedBy ?? "" },
    entryCount: row.entryCount,
  };
}
