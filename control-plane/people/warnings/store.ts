import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import type { Cause } from "#control-plane/people/warnings/causes.ts";
import type { WarningCode } from "#control-plane/people/warnings/codes.ts";
import type { KnownCause } from "#control-plane/people/warnings/compare.ts";

/** Number of an advisory lock: one replica at a time looks for causes. */
const LOCK = 4_417_902_365_518;

/** Becomes the replica that looks for causes until the transaction ends; false if another one does. */
export async function lockWarnings(tx: Transaction): Promise<boolean> {
  const [row] = await tx<{ got: boolean }[]>`select pg_try_advisory_xact_lock(${LOCK}::bigint) as got`;
  return row?.got ?? false;
}

/** Reads the known causes, the oldest first. */
export async function readCauses(sql: Queryable): Promise<readonly KnownCause[]> {
  return sql<KnownCause[]>`
    select code, subject, message, since, raised_at as "raisedAt", monitor_count as "monitorCount",
      monitor_ids as "monitorIds"
    from warnings order by since, code, subject`;
}

/** Writes present causes. */
export async function writeCauses(tx: Transaction, causes: readonly KnownCause[]): Promise<void> {
  for (const { code, subject, message, since, raisedAt, monitorCount, monitorIds } of causes) {
    await tx`
      insert into warnings as w (code, subject, message, since, raised_at, monitor_count, monitor_ids)
      values (${code}, ${subject}, ${message}, ${since}, ${raisedAt}, ${monitorCount}, ${[...monitorIds]}::bigint[])
      on conflict (code, subject) do update set message = excluded.message, raised_at = excluded.raised_at,
        monitor_count = excluded.monitor_count, monitor_ids = excluded.monitor_ids
      where (w.message, w.raised_at, w.monitor_count, w.monitor_ids) is distinct from
        (excluded.message, excluded.raised_at, excluded.monitor_count, excluded.monitor_ids)`;
  }
}

/** Deletes causes that have ended. */
export async function deleteCauses(tx: Transaction, causes: readonly Pick<Cause, "code" | "subject">[]): Promise<void> {
  await tx`
    delete from warnings using ${given(tx, causes, { code: "text", subject: "text" }, { as: "gone" })}
    where warnings.code = gone.code and warnings.subject = gone.subject`;
}

/** Counts the warnings of each code that has any. */
export async function countWarnings(
  sql: Queryable,
): Promise<readonly { readonly code: WarningCode; readonly count: number }[]> {
  return sql<{ code: WarningCode; count: number }[]>`
    select code, count(*) as count from warnings where raised_at is not null group by code`;
}
