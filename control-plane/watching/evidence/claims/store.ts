import type { Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import type { DueRow, FailReason, Leader } from "#control-plane/watching/evidence/claims/plan.ts";
import type { CheckType } from "#control-plane/outages/kinds/kinds.ts";

/** Reports whether a row is due. */
export async function hasDue(sql: Sql, now: Date): Promise<boolean> {
  const rows = await sql`select from incident_evidence where due_at <= ${now} limit 1`;
  return rows.length > 0;
}

/** Locks the claims of all replicas until the transaction ends, so that each cause has one claim. */
export async function lockClaims(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended('claims of evidence', 0))`;
}

/**
 * Reads due rows, those that were confirmed first, and locks them after their accounts, in the order of an erasure. Rows
 * of an account that is being erased are left out, so that the others need not wait for it.
 */
export async function readDue(tx: Transaction, now: Date, limit: number): Promise<readonly DueRow[]> {
  const accounts = await tx<{ id: number }[]>`
    select id from accounts where id in (
      select account_id from (
        select account_id from incident_evidence where due_at <= ${now} order by confirmed_at, incident_id limit ${limit}
      ) as due
    ) order by id for key share skip locked`;
  if (accounts.length === 0) return [];
  return tx<DueRow[]>`
    select incident_id as "incidentId", account_id as "accountId", host, cause_code as "causeCode",
      cause_key as "causeKey", extract(epoch from confirmed_at)::float8 * 1000 as "confirmedAt", attempts
    from incident_evidence
    where due_at <= ${now} and account_id = any(${accounts.map(({ id }) => id)}::bigint[])
    order by confirmed_at, incident_id limit ${limit}
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
  readonly intervalMinutes: number;
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
      m.check_type as "checkType", m.interval_minutes as "intervalMinutes", m.settings, m.secrets, t.state
    from claimed as c join incidents as i on i.id = c.incident_id join monitors as m on m.id = c.monitor_id
      join monitor_states as t on t.monitor_id = m.id
    order by c.confirmed_at, c.incident_id`;
}

/**
 * Locks rows whose evidence others are to share, so that none of them is settled before that is written. Returns whether
 * each is gathered already. Rows that are being settled, or have failed, are left out.
 */
export async function lockLeaders(
  tx: Transaction,
  incidentIds: readonly number[],
): Promise<ReadonlyMap<number, { readonly isGathered: boolean }>> {
  const rows = await tx<{ id: number; isGathered: boolean }[]>`
    select incident_id as id, status = 'gathered' as "isGathered" from incident_evidence
    where incident_id = any(${[...incidentIds]}::bigint[]) and status in ('gathering', 'gathered')
    order by incident_id for share skip locked`;
  return new Map(rows.map(({ id, isGathered }) => [id, { isGathered }]));
}

/** Gives rows the evidence of other incidents. */
export async function shareRows(
  tx: Transaction,
  shared: readonly { readonly incidentId: number; readonly sharedWith: number }[],
): Promise<void> {
  await tx`
    update incident_evidence as e set status = 'shared', due_at = null, shared_with = given.shared_with
    from ${given(tx, shared, { incidentId: "bigint", sharedWith: "bigint" })}
    where e.incident_id = given.incident_id`;
}

/** A row as a claim knows it. */
export interface ClaimedRow {
  readonly incidentId: number;
  /** Number of claims: the token of the lease. */
  readonly attempts: number;
}

/** A row for which nothing is gathered; reason null: its monitor does not exist any more. */
interface EndedRow extends ClaimedRow {
  readonly reason: FailReason | null;
}

/** Ends rows for which nothing is gathered, if the claims still hold. Returns their incidents. */
export async function failRows(tx: Transaction, failed: readonly EndedRow[]): Promise<ReadonlySet<number>> {
  const rows = await tx<{ id: number }[]>`
    update incident_evidence as e set status = 'failed', due_at = null, reason = given.reason
    from ${given(tx, failed, { incidentId: "bigint", attempts: "integer", reason: "text" })}
    where e.incident_id = given.incident_id and e.attempts = given.attempts and e.due_at is not null
    returning e.incident_id as id`;
  return new Set(rows.map(({ id }) => id));
}

/** Makes the rows due again that share the evidence of these, which have none. Returns their number. */
export async function releaseFollowers(tx: Transaction, incidentIds: Iterable<number>, dueAt: Date): Promise<number> {
  const { count } = await tx`
    update incident_evidence set status = 'pending', shared_with = null, due_at = ${dueAt}
    where shared_with = any(${[...incidentIds]}::bigint[]) and status = 'shared'`;
  return count;
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

/** Stores what was gathered. Returns false if the claim is lost. */
export async function settleRow(tx: Transaction, row: GatheredRow): Promise<boolean> {
  const { incidentId, attempt, gatheredAt, lines, body } = row;
  const { count } = await tx`
    update incident_evidence
    set status = 'gathered', due_at = null, gathered_at = ${gatheredAt}, lines = ${JSON.stringify(lines)}, body = ${body}
    where incident_id = ${incidentId} and attempts = ${attempt} and status = 'gathering'`;
  return count > 0;
}

/**
 * Returns the incidents that share the evidence of one. A statement after settleRow: its snapshot has what others wrote
 * while that waited for them.
 */
export async function findFollowers(tx: Transaction, incidentId: number): Promise<readonly number[]> {
  const rows = await tx<{ id: number }[]>`
    select incident_id as id from incident_evidence where shared_with = ${incidentId} and status = 'shared'`;
  return rows.map(({ id }) => id);
}

/** Gives a claim back, so that the row is claimed again. */
export async function releaseRow(sql: Sql, incidentId: number, attempt: number, dueAt: Date): Promise<void> {
  await sql`
    update incident_evidence set due_at = ${dueAt}
    where incident_id = ${incidentId} and attempts = ${attempt} and status = 'gathering'`;
}
