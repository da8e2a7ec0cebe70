import type { Queryable, Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import { EVIDENCE_CHANNEL } from "#control-plane/watching/evidence/evidence.ts";
import type { Examined } from "#control-plane/watching/evidence/shared.ts";

/** An outage for which evidence is to be gathered. */
interface NewRow {
  readonly incidentId: number;
  readonly accountId: number;
  readonly monitorId: number;
  readonly host: string;
  readonly causeCode: string;
  /** Equal for outages that share evidence (cause-key.ts). */
  readonly causeKey: string;
  readonly confirmedAt: Date;
}

/** Inserts rows, and wakes the workers when the transaction commits. Incidents that have a row keep it. */
export async function insertRows(tx: Transaction, rows: readonly NewRow[]): Promise<void> {
  await tx`
    with given as (
      select * from ${given(tx, rows, {
        incidentId: "bigint",
        accountId: "bigint",
        monitorId: "bigint",
        host: "text",
        causeCode: "text",
        causeKey: "text",
        confirmedAt: "timestamptz",
      })}
    ), inserted as (
      insert into incident_evidence (incident_id, account_id, monitor_id, host, cause_code, cause_key, confirmed_at, due_at)
      select g.incident_id, g.account_id, g.monitor_id, g.host, g.cause_code,
        g.cause_key, g.confirmed_at, g.confirmed_at
      from given as g on conflict do nothing returning incident_id
    )
    select pg_notify(${EVIDENCE_CHANNEL}, '') from (select from inserted limit 1) as any_row`;
}

/** Evidence as stored, for an incident that can share it with the one for which it was gathered. */
interface StoredEvidence {
  readonly own: Examined & {
    /** Sentence on the cause. */
    readonly cause: string;
  };
  readonly gathered: Examined;
  /** JSON of Evidence. */
  readonly body: string;
}

/** A row whose evidence is read, flat as selected. */
interface EvidenceRow {
  readonly incidentId: number;
  readonly host: string;
  readonly confirmedAt: Date;
  readonly cause: string | null;
  readonly otherId: number;
  readonly otherHost: string;
  readonly otherAt: Date;
  readonly body: string;
}

/** Reads the evidence of an incident, or that which it shares; null if there is none. */
export async function findEvidence(sql: Queryable, incidentId: number): Promise<StoredEvidence | null> {
  const [row] = await sql<EvidenceRow[]>`
    select ${columns(sql)}, found.body ${sources(sql, incidentId)} and found.body is not null`;
  return row === undefined ? null : { ...readPair(row), body: row.body };
}

/** Reads the lines for the mail of an incident, JSON of an array; null if there are none. */
export async function findLines(
  sql: Queryable,
  incidentId: number,
): Promise<(Omit<StoredEvidence, "body"> & { readonly lines: string }) | null> {
  const [row] = await sql<(Omit<EvidenceRow, "body"> & { lines: string })[]>`
    select ${columns(sql)}, found.lines ${sources(sql, incidentId)} and found.lines is not null`;
  return row === undefined ? null : { ...readPair(row), lines: row.lines };
}

function columns(sql: Queryable) {
  return sql`own.incident_id as "incidentId", own.host, own.confirmed_at as "confirmedAt", i.cause_message as cause,
    found.incident_id as "otherId", found.host as "otherHost", found.confirmed_at as "otherAt"`;
}

function sources(sql: Queryable, incidentId: number) {
  return sql`from incident_evidence as own join incidents as i on i.id = own.incident_id
    join incident_evidence as found on found.incident_id = coalesce(own.shared_with, own.incident_id)
    where own.incident_id = ${incidentId} and own.account_id = found.account_id`;
}

function readPair(row: Omit<EvidenceRow, "body">): Omit<StoredEvidence, "body"> {
  const { incidentId, host, confirmedAt, cause, otherId, otherHost, otherAt } = row;
  return {
    own: { incidentId, host, confirmedAt, cause: cause ?? "" },
    gathered: { incidentId: otherId, host: otherHost, confirmedAt: otherAt },
  };
}

/** Returns why nothing was gathered for an incident; null if something was, or it is not known. */
export async function findReason(sql: Queryable, incidentId: number): Promise<string | null> {
  const [row] = await sql<{ reason: string | null }[]>`
    select reason from incident_evidence where incident_id = ${incidentId} and status = 'failed'`;
  return row?.reason ?? null;
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
