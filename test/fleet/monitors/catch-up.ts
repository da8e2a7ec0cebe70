import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "#control-plane/core/database/connect.ts";

/**
 * Begin of a check that counts as later than another one's, in milliseconds: those of one batch begin together, and the
 * catch-up spreads them by about a second.
 */
const TOGETHER_MS = 2_000;

/**
 * Waits until every schedule entry has a check with a verdict that began after a time: one that no probe could serve is
 * no check. Returns when the last of the first ones began.
 */
export async function untilAllChecked(sql: Sql, since: Date, ms: number): Promise<number> {
  const last = performance.now() + ms;
  for (;;) {
    const [seen] = await sql<{ left: number }[]>`
      select count(*) filter (where checked_at is null or checked_at < ${since}) as left from monitor_slots`;
    // Asked only when it can be so, because it takes the time of a database that is busy.
    const firsts = seen?.left === 0 ? await readFirsts(sql, since) : null;
    if (firsts?.left === 0) return firsts.newest;
    const left = firsts?.left ?? seen?.left;
    if (performance.now() > last) throw new Error(`${left} schedule entries were not checked within ${ms} ms`);
    await sleep(500);
  }
}

/** Returns when the last schedule entry had its first check with a verdict, and how many had none. */
async function readFirsts(sql: Sql, since: Date): Promise<{ readonly left: number; readonly newest: number }> {
  const [row] = await sql<{ left: number; newest: number | null }[]>`
    select count(*) filter (where first.began is null) as left,
      (extract(epoch from max(first.began)) * 1000)::float8 as newest
    from monitor_slots as s cross join lateral (
      select min(c.checked_at) as began from checks as c
      where c.monitor_id = s.monitor_id and c.location = s.location and c.checked_at >= ${since}
        and c.status <> ${UNKNOWN}
    ) as first`;
  return { left: row?.left ?? 0, newest: row?.newest ?? 0 };
}

/** Status of a check without a verdict, as stored. */
const UNKNOWN = 3;

/**
 * Measures the catch-up after a restart: the seconds from the restart to the first checks of half, of 99 % and of all
 * schedule entries, and the order. Only checks with a verdict count. A check is out of order if it began more than
 * TOGETHER_MS after that of a schedule entry that was planned so much later; the figure is the largest such difference
 * of planned times, in seconds. A schedule entry is overtaken if its first check began so much after the second one of
 * another one; one that a busy probe declined was its turn, too.
 */
export async function measureCatchUp(sql: Sql, since: Date): Promise<Readonly<Record<string, number>>> {
  const rows = await sql<{ began: number; planned: number }[]>`
    select distinct on (monitor_id, location) (extract(epoch from checked_at) * 1000)::float8 as began,
      (extract(epoch from checked_at) * 1000)::float8 - lag_ms as planned
    from checks where checked_at >= ${since} and not is_recheck and status <> ${UNKNOWN}
    order by monitor_id, location, checked_at`;
  const ordered = rows.toSorted((one, other) => one.began - other.began);
  const at = (share: number) =>
    ((ordered[Math.ceil(share * ordered.length) - 1]?.began ?? 0) - since.getTime()) / 1_000;
  let latest = -Infinity;
  let overtakenMs = 0;
  let outOfOrder = 0;
  let earlier = 0;
  for (const { began, planned } of ordered) {
    for (; (ordered[earlier]?.began ?? Infinity) < began - TOGETHER_MS; earlier += 1)
      latest = Math.max(latest, ordered[earlier]?.planned ?? 0);
    const byMs = latest - planned;
    if (byMs > TOGETHER_MS) outOfOrder += 1;
    overtakenMs = Math.max(overtakenMs, byMs);
  }
  const [turns] = await sql<{ overtaken: number }[]>`
    with turns as (
      select checked_at, row_number() over (partition by monitor_id, location order by checked_at) as turn
      from checks where checked_at >= ${since} and not is_recheck)
    select count(*) as overtaken from turns
    where turn = 1 and checked_at > (select min(checked_at) from turns where turn = 2)
      + make_interval(secs => ${TOGETHER_MS / 1_000})`;
  return {
    scheduleEntries: ordered.length,
    half: at(0.5),
    most: at(0.99),
    all: at(1),
    outOfOrder,
    overtakenSeconds: overtakenMs / 1_000,
    overtaken: turns?.overtaken ?? 0,
  };
}
