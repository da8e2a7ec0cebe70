import type { Queryable } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";

/** The facts of a good check, to be stored. */
export interface NewBaseline {
  readonly monitorId: number;
  readonly location: string;
  readonly goodAt: Date;
  readonly target: string;
  readonly address: string | null;
  /** JSON of ComparedValues. */
  readonly facts: string;
}

/** Stores baselines of different schedule entries in one statement. A newer one that is stored already stays. */
export async function upsertBaselines(sql: Queryable, made: readonly NewBaseline[]): Promise<void> {
  await sql`
    insert into monitor_baselines as b (monitor_id, location, good_at, target, address, facts)
    select given.* from ${given(sql, made, {
      monitorId: "bigint",
      location: "text",
      goodAt: "timestamptz",
      target: "text",
      address: "text",
      facts: "text",
    })}
    join monitors as m on m.id = given.monitor_id
    order by given.monitor_id, given.location
    on conflict (monitor_id, location) do update
    set good_at = excluded.good_at, target = excluded.target, address = excluded.address,
      -- Name servers are looked up once a day: what is known about them stays.
      facts = case when b.target <> excluded.target or excluded.facts::json ->> 'nameServers' is not null
        then excluded.facts
        else (excluded.facts::jsonb || jsonb_build_object('nameServers', b.facts::jsonb -> 'nameServers',
          'nameServersAt', b.facts::jsonb -> 'nameServersAt'))::text end
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

/** The newest good check of a schedule entry, in short. */
interface GoodRow {
  readonly location: string;
  readonly goodAt: Date;
  /** Text of checking/snapshots/good-check.ts. */
  readonly good: string;
}

/**
 * Reads the newest good checks of a monitor. All are of its present target, because a new target has new schedule
 * entries.
 */
export async function readGoodChecks(sql: Queryable, monitorId: number): Promise<readonly GoodRow[]> {
  return sql<GoodRow[]>`
    select location, good_at as "goodAt", good from monitor_slots
    where monitor_id = ${monitorId} and good_at is not null and good is not null order by good_at desc limit 100`;
}

/** Adds name servers to the baselines of a monitor. `at` is Unix milliseconds. */
export async function updateNameServers(
  sql: Queryable,
  monitorId: number,
  { names, at }: { readonly names: readonly string[]; readonly at: number },
): Promise<void> {
  const added = JSON.stringify({ nameServers: names, nameServersAt: at });
  await sql`
    update monitor_baselines set facts = (facts::jsonb || ${added}::text::jsonb)::text where monitor_id = ${monitorId}`;
}
