import type { Queryable } from "#control-plane/core/database/connect.ts";
import type { TaggedMonitor } from "#control-plane/outages/maintenance/coverage/cover.ts";

/** A public window with the occurrences around a time; null if there is none. */
export interface PublishedRow {
  readonly id: number;
  readonly title: string;
  readonly monitorIds: readonly number[];
  readonly tags: readonly string[];
  /** When visitors were informed of the window, else when it was written. */
  readonly announcedAt: Date;
  readonly isRepeated: boolean;
  readonly runningFrom: Date | null;
  readonly runningTo: Date | null;
  readonly nextFrom: Date | null;
  readonly nextTo: Date | null;
  readonly lastFrom: Date | null;
  readonly lastTo: Date | null;
}

/**
 * Finds the public windows that concern one of these monitors of an account and have an occurrence between two times.
 * Deleted and cancelled windows are not shown.
 */
export async function findPublished(
  sql: Queryable,
  accountId: number,
  monitors: readonly TaggedMonitor[],
  { from, now, to, limit }: { readonly from: Date; readonly now: Date; readonly to: Date; readonly limit: number },
): Promise<readonly PublishedRow[]> {
  return sql<PublishedRow[]>`
    select m.id, m.title, s.monitor_ids as "monitorIds", s.tags, coalesce(m.announced_at, m.created_at) as "announcedAt",
      m.rrule is not null as "isRepeated", running.starts_at as "runningFrom",
      running.ends_at as "runningTo", next.starts_at as "nextFrom", next.ends_at as "nextTo",
      last.starts_at as "lastFrom", last.ends_at as "lastTo"
    from maintenance as m
    join maintenance_scopes as s on s.maintenance_id = m.id and s.replaced_at is null
    left join lateral (
      select starts_at, ends_at from maintenance_occurrences
      where maintenance_id = m.id and covers_from <= ${now} and ends_at > ${now}
        and covers_from > ${now}::timestamptz - interval '30 days'
      order by ends_at desc limit 1
    ) as running on true
    left join lateral (
      select starts_at, ends_at from maintenance_occurrences
      where maintenance_id = m.id and covers_from > ${now} and covers_from <= ${to}
      order by covers_from limit 1
    ) as next on true
    left join lateral (
      select starts_at, ends_at from maintenance_occurrences
      where maintenance_id = m.id and covers_from <= ${now} and ends_at <= ${now} and ends_at >= ${from}
        and covers_from > ${from}::timestamptz - interval '30 days'
      order by ends_at desc limit 1
    ) as last on true
    where m.account_id = ${accountId} and m.is_public and m.deleted_at is null and m.cancelled_at is null
      and (s.monitor_ids && ${monitors.map(({ id }) => id)}::bigint[]
        or s.tags && ${[...new Set(monitors.flatMap(({ tags }) => tags))]}::text[])
      and coalesce(running.ends_at, next.ends_at, last.ends_at) is not null
    order by coalesce(running.starts_at, next.starts_at, last.starts_at) desc, m.id desc limit ${limit}`;
}

/** A past occurrence of a public window, with what it covered at that time. */
interface PastRow {
  readonly id: number;
  readonly title: string;
  readonly announcedAt: Date;
  readonly monitorIds: readonly number[];
  readonly tags: readonly string[];
  readonly startsAt: Date;
  readonly endsAt: Date;
}

/**
 * Finds the occurrences of public windows that concerned one of these monitors of an account, began in [from, to) and are
 * over, the newest first. Deleted and cancelled windows are not shown.
 */
export async function findPast(
  sql: Queryable,
  accountId: number,
  monitors: readonly TaggedMonitor[],
  { from, to, now, limit }: { readonly from: Date; readonly to: Date; readonly now: Date; readonly limit: number },
): Promise<readonly PastRow[]> {
  return sql<PastRow[]>`
    select m.id, m.title, coalesce(m.announced_at, m.created_at) as "announcedAt", s.monitor_ids as "monitorIds", s.tags,
      o.starts_at as "startsAt", o.ends_at as "endsAt"
    from maintenance_occurrences as o
    join maintenance_scopes as s on s.id = o.scope_id
    join maintenance as m on m.id = o.maintenance_id
    where o.account_id = ${accountId} and o.covers_from >= ${from} and o.covers_from < ${to} and o.ends_at <= ${now}
      and m.is_public and m.deleted_at is null and m.cancelled_at is null
      and (s.monitor_ids && ${monitors.map(({ id }) => id)}::bigint[]
        or s.tags && ${[...new Set(monitors.flatMap(({ tags }) => tags))]}::text[])
    order by o.covers_from desc, m.id desc limit ${limit}`;
}
