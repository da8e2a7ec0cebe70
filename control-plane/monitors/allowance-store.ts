import type { Transaction } from "#control-plane/core/database/connect.ts";
import { columns, readRows, type Row, type StoredMonitor } from "#control-plane/monitors/store.ts";

/** Pauses the newest active monitors of an account because of its plan. Returns their ids. */
export async function pauseNewest(
  tx: Transaction,
  accountId: number,
  count: number,
  now: Date,
): Promise<readonly number[]> {
  const rows = await tx<{ id: number }[]>`
    update monitors set is_active = false, paused_reason = 'plan', version = version + 1, updated_at = ${now}
    where id in (
      select id from monitors where account_id = ${accountId} and is_active order by id desc limit ${count}
    )
    returning id`;
  return rows.map(({ id }) => id);
}

/** Resumes the oldest monitors of an account that were paused because of its plan. Returns them. */
export async function resumeOldest(
  tx: Transaction,
  accountId: number,
  count: number,
  now: Date,
): Promise<readonly StoredMonitor[]> {
  const rows = await tx<Row[]>`
    update monitors set is_active = true, paused_reason = null, version = version + 1, updated_at = ${now}
    where id in (
      select id from monitors where account_id = ${accountId} and not is_active and paused_reason = 'plan'
      order by id limit ${count}
    )
    returning ${columns(tx)}`;
  return readRows(rows);
}
