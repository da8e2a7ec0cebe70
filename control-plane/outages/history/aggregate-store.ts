import type { Queryable, SqlFragment } from "#control-plane/core/database/connect.ts";

/** Checks of one monitor at one location in one period, without re-checks. */
export interface CountedChecks {
  /** Beginning of the period. */
  readonly at: Date;
  readonly monitorId: number;
  readonly location: string;
  /** Degraded ones included. */
  readonly up: number;
  readonly down: number;
  readonly unknown: number;
  /** Encoded histogram of the response times of successful checks (histogram.ts); null if there are none. */
  readonly responseMs: Uint8Array | null;
}

/** Expression of the beginning of a check's hour. The index `checks_hour` is on this expression. */
export function hourOf(sql: Queryable): SqlFragment {
  return sql`date_bin('1 hour', checked_at, timestamptz '2000-01-01 00:00:00+00')`;
}

/**
 * A query of counted checks: those of table checks that meet `where`, grouped by `at`, monitor and location. Its columns
 * are at, monitor_id, location, up, down, unknown, response_ms and slow, the degraded ones of `up`. A group of re-checks
 * alone has zero counts.
 */
export function countChecks(sql: Queryable, at: SqlFragment, where: SqlFragment): SqlFragment {
  return sql`
    select at, monitor_id, location,
      coalesce(sum(n) filter (where status in (1, 4)), 0)::integer as up,
      coalesce(sum(n) filter (where status = 2), 0)::integer as down,
      coalesce(sum(n) filter (where status = 3), 0)::integer as unknown,
      string_agg(
        case when n < 64 then int2send(((bucket << 6) | (n - 1))::smallint)
        else int2send(((bucket << 6) | 63)::smallint) || int4send(n) end, ''
      ) filter (where bucket is not null) as response_ms,
      coalesce(sum(n) filter (where status = 4), 0)::integer as slow
    from (
      select at, monitor_id, location, status, bucket, count(*)::integer as n from (
        select ${at} as at, monitor_id, location,
          case when is_recheck then 0 else status end as status,
          case when status in (1, 4) and not is_recheck then ${bucketOf(sql)} end as bucket
        from checks where ${where}
      ) as one group by at, monitor_id, location, status, bucket
    ) as grouped group by at, monitor_id, location`;
}

/** Expression of the bucket of response_ms in a histogram (histogram.ts). */
function bucketOf(sql: Queryable): SqlFragment {
  return sql`case
    when response_ms < 64 then greatest(response_ms, 0)
    when response_ms < 128 then 32 + (response_ms >> 1)
    when response_ms < 256 then 64 + (response_ms >> 2)
    when response_ms < 512 then 96 + (response_ms >> 3)
    when response_ms < 1024 then 128 + (response_ms >> 4)
    when response_ms < 2048 then 160 + (response_ms >> 5)
    when response_ms < 4096 then 192 + (response_ms >> 6)
    when response_ms < 8192 then 224 + (response_ms >> 7)
    when response_ms < 16384 then 256 + (response_ms >> 8)
    when response_ms < 32768 then 288 + (response_ms >> 9)
    when response_ms < 65536 then 320 + (response_ms >> 10)
    when response_ms is not null then 383 end`;
}
