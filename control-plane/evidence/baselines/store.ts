import type { Queryable } from "#control-plane/database/connect.ts";

/** The facts of a good check, to be stored. */
export interface NewBaseline {
  readonly monitorId: number;
  readonly location: string;
  readonly goodAt: Date;
  readonly target: string;
  readonly address: string | null;
  /** JSON of Facts. */
  readonly facts: string;
}

/** Stores baselines of different slots in one statement. A newer one that is stored already stays. */
export async function upsertBaselines(sql: Queryable, made: readonly NewBaseline[]): Promise<void> {
  await sql`
    insert into monitor_baselines as b (monitor_id, location, good_at, target, address, facts)
    select given.* from unnest(
      ${made.map(({ monitorId }) => monitorId)}::bigint[],
      ${made.map(({ location }) => location)}::text[],
      ${made.map(({ goodAt }) => goodAt.toISOString())}::timestamptz[],
      ${made.map(({ target }) => target)}::text[],
      ${made.map(({ address }) => address)}::text[],
      ${made.map(({ facts }) => facts)}::text[]
    ) as given (monitor_id, location, good_at, target, address, facts)
    join monitors as m on m.id = given.monitor_id
    order by given.monitor_id, given.location
    on conflict (monitor_id, location) do update
    set good_at = excluded.good_at, target = excluded.target, address = excluded.address, facts = excluded.facts
    where b.good_at <= excluded.good_at`;
}

/** A stored baseline. */
interface BaselineRow {
  readonly location: string;
  readonly goodAt: Date;
  readonly facts: string;
}

/** Reads the baselines of a monitor for its present target. */
export async function readBaselines(
  sql: Queryable,
  monitorId: number,
  target: string,
): Promise<readonly BaselineRow[]> {
  return sql<BaselineRow[]>`
    select location, good_at as "goodAt", facts from monitor_baselines
    where monitor_id = ${monitorId} and target = ${target} order by good_at desc limit 100`;
}
