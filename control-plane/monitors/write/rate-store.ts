import type { Transaction } from "#control-plane/core/database/connect.ts";

/**
 * Notes that a user asks for a check of a locked monitor now. Returns 0, or the seconds to wait if `count` were requested
 * within the last `seconds`. Times in the future, from before the clock was set back, do not count.
 */
export async function noteRun(
  tx: Transaction,
  id: number,
  now: Date,
  { count, seconds }: { readonly count: number; readonly seconds: number },
): Promise<number> {
  const recent = tx`
    select at from monitors, unnest(runs_requested_at) as at
    where id = ${id} and at <= ${now} and at > ${now}::timestamptz - ${seconds}::integer * interval '1 second'`;
  const { count: noted } = await tx`
    update monitors set runs_requested_at = array(${recent} order by at) || ${now}::timestamptz
    where id = ${id} and (select count(*) from (${recent}) as recent) < ${count}`;
  if (noted > 0) return 0;
  const [row] = await tx<{ wait: number }[]>`
    select ceil(extract(epoch from at - ${now}::timestamptz) + ${seconds}::integer)::integer as wait
    from (${recent}) as recent order by at desc offset ${count - 1} limit 1`;
  return Math.max(1, row?.wait ?? 1);
}

/**
 * Notes a test of the mails about a monitor. Returns 0, or after how many seconds the next one is possible, which is
 * `seconds` after the last.
 */
export async function noteMailTest(tx: Transaction, id: number, now: Date, seconds: number): Promise<number> {
  const { count } = await tx`
    update monitors set mail_tested_at = ${now}
    where id = ${id} and (
      mail_tested_at is null or mail_tested_at > ${now}
      or mail_tested_at <= ${now}::timestamptz - ${seconds}::integer * interval '1 second'
    )`;
  if (count > 0) return 0;
  const [row] = await tx<{ wait: number }[]>`
    select ceil(extract(epoch from mail_tested_at - ${now}::timestamptz) + ${seconds}::integer)::integer as wait
    from monitors where id = ${id}`;
  return Math.max(1, row?.wait ?? 1);
}
