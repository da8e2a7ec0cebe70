import type { Queryable, Sql, Transaction } from "#control-plane/database/connect.ts";
import { EVIDENCE_CHANNEL } from "#control-plane/evidence/evidence.ts";
import type { DueRow, FailReason, Leader } from "#control-plane/evidence/plan.ts";
import type { CheckType } from "#control-plane/monitors/monitor.ts";

/** An outage for which evidence is to be gathered. */
interface NewRow {
  readonly incidentId: number;
  readonly accountId: number;
  readonly monitorId: number;
  readonly host: string;
  readonly causeCode: string;
  /** Place of the cause if no good check has an address. */
  readonly place: string;
  readonly confirmedAt: Date;
}

/** Inserts rows, and wakes the workers when the transaction commits. Incidents that have a row keep it. */
export async function insertRows(tx: Transaction, rows: readonly NewRow[]): Promise<void> {
  await tx`
    with given as (
      select * from unnest(
        ${rows.map(({ incidentId }) => incidentId)}::bigint[],
        ${rows.map(({ accountId }) => accountId)}::bigint[],
        ${rows.map(({ monitorId }) => monitorId)}::bigint[],
        ${rows.map(({ host }) => host)}::text[],
        ${rows.map(({ causeCode }) => causeCode)}::text[],
        ${rows.map(({ place }) => place)}::text[],
        ${rows.map(({ confirmedAt }) => confirmedAt.toISOString())}::timestamptz[]
      ) as given (incident_id, account_id, monitor_id, host, cause_code, place, confirmed_at)
    ), inserted as (
      insert into incident_evidence (incident_id, account_id, monitor_id, host, cause_code, cause_key, confirmed_at, due_at)
      select g.incident_id, g.account_id, g.monitor_id, g.host, g.cause_code,
        g.cause_code || ' ' || coalesce((
          select b.address from monitor_baselines as b
          where b.monitor_id = g.monitor_id and b.address is not null order by b.good_at desc limit 1
        ), g.place), g.confirmed_at, g.confirmed_at
      from given as g on conflict do nothing returning incident_id
    )
    select pg_notify(${EVIDENCE_CHANNEL}, '') from (select from inserted limit 1) as any_row`;
}

/** Reports whether a row is due. */
export async function hasDue(sql: Sql, now: Date): Promise<boolean> {
  const rows = await sql`select from incident_evidence where due_at <= ${now} limit 1`;
  return rows.length > 0;
}

/** Locks the claims of all replicas until the transaction ends, so that each cause has one claim. */
export async function lockClaims(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended('claims of evidence', 0))`;
}

/** Reads due rows, those that were confirmed first. */
export async function readDue(tx: Transaction, now: Date, limit: number): Promise<readonly DueRow[]> {
  return tx<DueRow[]>`
    select incident_id as "incidentId", account_id as "accountId", host, cause_code as "causeCode",
      cause_key as "causeKey", extract(epoch from confirmed_at)::float8 * 1000 as "confirmedAt", attempts
    from incident_evidence where due_at <= ${now} order by confirmed_at, incident_id limit ${limit}
    for update skip locked`;
}

/** Reads what was claimed since a time for these accounts, or at these hosts for any account. */
export async function readLeaders(
  tx: Transaction,
  { accountIds, hosts }: { readonly accountIds: readonly number[]; readonly hosts: readonly string[] },
  since: Date,
): Promise<readonly Leader[]> {
  return tx<Leader[]>`
    select incident_id as "incidentId", account_id as "accountId", host, cause_code as "causeCode",
      cause_key as "causeKey", extract(epoch from confirmed_at)::float8 * 1000 as "confirmedAt"
    from incident_evidence
    where status in ('gathering', 'gathered') and confirmed_at >= ${since}
      and (account_id = any(${[...accountIds]}::bigint[]) or host = any(${[...hosts]}::text[]))
    order by confirmed_at, incident_id`;
}

/** A claimed row with what is known about its incident and monitor. */
export interface Task {
  readonly incidentId: number;
  readonly accountId: number;
  readonly monitorId: number;
  /** The number of this claim, from 1. */
  readonly attempt: number;
  readonly confirmedAt: Date;
  readonly causeMessage: string;
  /** JSON of AffectedLocation[]. */
  readonly locations: string;
  readonly url: string;
  readonly checkType: CheckType;
  /** JSON of MonitorSettings. */
  readonly settings: string;
  readonly secrets: Uint8Array | null;
  /** JSON of MonitorState. */
  readonly state: string;
}

/** Claims rows until `leaseEndsAt`. Rows whose monitor was deleted are missing in the result. */
export async function claimRows(
  tx: Transaction,
  incidentIds: readonly number[],
  leaseEndsAt: Date,
): Promise<readonly Task[]> {
  return tx<Task[]>`
    with claimed as (
      update incident_evidence set status = 'gathering', attempts = attempts + 1, due_at = ${leaseEndsAt}
      where incident_id = any(${[...incidentIds]}::bigint[])
      returning incident_id, account_id, monitor_id, attempts, confirmed_at
    )
    select c.incident_id as "incidentId", c.account_id as "accountId", c.monitor_id as "monitorId",
      c.attempts as attempt, c.confirmed_at as "confirmedAt", i.cause_message as "causeMessage", i.locations, m.url,
      m.check_type as "checkType", m.settings, m.secrets, t.state
    from claimed as c join incidents as i on i.id = c.incident_id join monitors as m on m.id = c.monitor_id
      join monitor_states as t on t.monitor_id = m.id
    order by c.confirmed_at, c.incident_id`;
}

/** Gives rows the evidence of other incidents. */
export async function shareRows(
  tx: Transaction,
  shared: readonly { readonly incidentId: number; readonly sharedWith: number }[],
): Promise<void> {
  await tx`
    update incident_evidence as e set status = 'shared', due_at = null, shared_with = given.shared_with
    from unnest(
      ${shared.map(({ incidentId }) => incidentId)}::bigint[], ${shared.map(({ sharedWith }) => sharedWith)}::bigint[]
    ) as given (incident_id, shared_with)
    where e.incident_id = given.incident_id`;
}

/** Ends rows for which nothing is gathered. */
export async function failRows(
  tx: Transaction,
  failed: readonly { readonly incidentId: number; readonly reason: FailReason }[],
): Promise<void> {
  await tx`
    update incident_evidence set status = 'failed', due_at = null
    where incident_id = any(${failed.map(({ incidentId }) => incidentId)}::bigint[])`;
}

/** Returns the incidents among these whose evidence is there. */
export async function findGathered(tx: Transaction, incidentIds: readonly number[]): Promise<ReadonlySet<number>> {
  const rows = await tx<{ id: number }[]>`
    select incident_id as id from incident_evidence
    where incident_id = any(${[...incidentIds]}::bigint[]) and status = 'gathered'`;
  return new Set(rows.map(({ id }) => id));
}

/** What was gathered. */
export interface GatheredRow {
  readonly incidentId: number;
  readonly attempt: number;
  readonly gatheredAt: Date;
  readonly lines: readonly string[];
  /** JSON of Evidence, at most 256 KB. */
  readonly body: string;
}

/**
 * Stores what was gathered, if the claim still holds. Returns the incidents that now have evidence, those that share it
 * included; none if the claim is lost.
 */
export async function settleRow(tx: Transaction, row: GatheredRow): Promise<readonly number[]> {
  const { incidentId, attempt, gatheredAt, lines, body } = row;
  const rows = await tx<{ id: number }[]>`
    with settled as (
      update incident_evidence
      set status = 'gathered', due_at = null, gathered_at = ${gatheredAt}, lines = ${JSON.stringify(lines)}, body = ${body}
      where incident_id = ${incidentId} and attempts = ${attempt} and status = 'gathering'
      returning incident_id as id
    )
    select id from settled
    union all
    select incident_id from incident_evidence where shared_with in (select id from settled) and status = 'shared'`;
  return rows.map(({ id }) => id);
}

/** Gives a claim back, so that the row is claimed again. */
export async function releaseRow(sql: Sql, incidentId: number, attempt: number, dueAt: Date): Promise<void> {
  await sql`
    update incident_evidence set due_at = ${dueAt}
    where incident_id = ${incidentId} and attempts = ${attempt} and status = 'gathering'`;
}

/** Evidence of an incident as stored. */
interface StoredEvidence {
  /** The incident for which it was gathered. */
  readonly gatheredFor: number;
  readonly body: string;
}

/** Reads the evidence of an incident, or that which it shares; null if there is none. */
export async function findEvidence(sql: Queryable, incidentId: number): Promise<StoredEvidence | null> {
  const [row] = await sql<StoredEvidence[]>`
    select found.incident_id as "gatheredFor", found.body from incident_evidence as own
    join incident_evidence as found on found.incident_id = coalesce(own.shared_with, own.incident_id)
    where own.incident_id = ${incidentId} and own.account_id = found.account_id and found.body is not null`;
  return row ?? null;
}

/** Reads the lines for the mail of an incident; null if there are none. */
export async function findLines(sql: Queryable, incidentId: number): Promise<string | null> {
  const [row] = await sql<{ lines: string }[]>`
    select found.lines from incident_evidence as own
    join incident_evidence as found on found.incident_id = coalesce(own.shared_with, own.incident_id)
    where own.incident_id = ${incidentId} and own.account_id = found.account_id and found.lines is not null`;
  return row?.lines ?? null;
}

/** Deletes at most `limit` rows of outages that were confirmed before a time. Returns their number. */
export async function deleteOld(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from incident_evidence where incident_id in (
      select incident_id from incident_evidence
      where confirmed_at < ${before} and due_at is null order by confirmed_at limit ${limit}
    )`;
  return count;
}
