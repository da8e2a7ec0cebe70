import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "#control-plane/database/connect.ts";

/** Begin of a check that counts as later than another one's, in milliseconds: those of one batch begin together. */
const TOGETHER_MS = 1_000;

/** Waits until every slot has a check that began after a time. Returns when the last of them began. */
export async function untilAllChecked(sql: Sql, since: Date, ms: number): Promise<number> {
  const last = performance.now() + ms;
  for (;;) {
    const [row] = await sql<{ left: number; newest: number | null }[]>`
      select count(*) filter (where checked_at is null or checked_at < ${since}) as left,
        (extract(epoch from max(checked_at)) * 1000)::float8 as newest from monitor_slots`;
    if (row?.left === 0) return row.newest ?? 0;
    if (performance.now() > last) throw new Error(`${row?.left} slots were not checked within ${ms} ms`);
    await sleep(500);
  }
}

/**
 * Measures the catch-up after a restart: the seconds from the restart to the first checks of half, of 99 % and of all
 * slots, and the order. A check is out of order if it began more than a second before that of a slot that was planned
 * earlier; the figure is the largest such difference of planned times, in seconds.
 */
export async function measureCatchUp(sql: Sql, since: Date): Promise<Readonly<Record<string, number>>> {
  const rows = await sql<{ began: number; planned: number }[]>`
    select distinct on (monitor_id, location) (extract(epoch from checked_at) * 1000)::float8 as began,
      (extract(epoch from checked_at) * 1000)::float8 - lag_ms as planned
    from checks where checked_at >= ${since} and not is_recheck order by monitor_id, location, checked_at`;
  const ordered = rows.toSorted((one, other) => one.began - other.began);
  const at = (share: number) =>
    ((ordered[Math.ceil(share * ordered.length) - 1]?.began ?? 0) - since.getTime()) / 1_000;
  let earliest = Infinity;
  let overtakenMs = 0;
  let outOfOrder = 0;
  let later = ordered.length - 1;
  for (let index = ordered.length - 1; index >= 0; index -= 1) {
    const { began, planned } = ordered[index] ?? { began: 0, planned: 0 };
    while (later > index && (ordered[later]?.began ?? 0) > began + TOGETHER_MS) {
      earliest = Math.min(earliest, ordered[later]?.planned ?? Infinity);
      later -= 1;
    }
    const byMs = planned - earliest;
    if (byMs > TOGETHER_MS) outOfOrder += 1;
    overtakenMs = Math.max(overtakenMs, byMs);
  }
  return {
    slots: ordered.length,
    half: at(0.5),
    most: at(0.99),
    all: at(1),
    outOfOrder,
    overtakenSeconds: overtakenMs / 1_000,
  };
}
