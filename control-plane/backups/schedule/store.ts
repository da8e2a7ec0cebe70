import type { Queryable, Sql, Transaction } from "#control-plane/core/database/connect.ts";

/** Number of an advisory lock: one replica at a time begins a backup. */
const LOCK = 4_417_902_365_519;
/** Rows that are kept. */
const KEPT = 1_000;

/** Waits until no other replica begins a backup. */
export async function lockSchedule(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock(${LOCK}::bigint)`;
}

/** A backup by schedule. */
export interface BackupRow {
  readonly startedAt: Date;
  /** null: it runs, or its replica was killed. */
  readonly endedAt: Date | null;
  /** Why there is no file; null: there is one, if it has ended. */
  readonly error: string | null;
}

/** Reads the newest backup, the newest that has ended, and the newest that is good. */
export async function readNewest(
  sql: Queryable,
): Promise<{ readonly begun: BackupRow | null; readonly ended: BackupRow | null; readonly good: BackupRow | null }> {
  const rows = await sql<(BackupRow & { kind: "begun" | "ended" | "good" })[]>`
    (select 'begun' as kind, started_at as "startedAt", ended_at as "endedAt", error from backups
      order by started_at desc, id desc limit 1)
    union all
    (select 'ended', started_at, ended_at, error from backups where ended_at is not null
      order by started_at desc, id desc limit 1)
    union all
    (select 'good', started_at, ended_at, error from backups where ended_at is not null and error is null
      order by started_at desc, id desc limit 1)`;
  const find = (kind: string): BackupRow | null => rows.find((row) => row.kind === kind) ?? null;
  return { begun: find("begun"), ended: find("ended"), good: find("good") };
}

/** Stores that a backup begins. Returns its id. */
export async function insertBackup(tx: Transaction, file: string, now: Date): Promise<number> {
  const [row] = await tx<{ id: number }[]>`
    insert into backups (file, started_at) values (${file}, ${now}) returning id`;
  if (row === undefined) throw new Error("the insert returned no id");
  return row.id;
}

/** Stores how a backup has ended, and forgets old ones. */
export async function endBackup(
  sql: Sql,
  id: number,
  { bytes, error, now }: { readonly bytes: number | null; readonly error: string | null; readonly now: Date },
): Promise<void> {
  await sql`
    with old as (
      delete from backups where id <= ${id - KEPT}
        and id <> (select coalesce(max(id), 0) from backups where ended_at is not null and error is null)
    )
    update backups set ended_at = ${now}, bytes = ${bytes}, error = ${error} where id = ${id}`;
}

/** Forgets a backup that was given up. */
export async function deleteBackup(sql: Sql, id: number): Promise<void> {
  await sql`delete from backups where id = ${id}`;
}
