import { DAY_MS, HOUR_MS, type Span } from "#control-plane/outages/history/period.ts";
import type { Status, TimeByStatus } from "#control-plane/outages/history/timeline.ts";
import type { TestCheck } from "#test/support/history.ts";

/** Everything that happened to one monitor. */
export interface Life {
  readonly id: number;
  readonly createdAt: number;
  readonly checks: TestCheck[];
  /** In the order in which they were recorded. */
  readonly changes: { at: number; status: Status }[];
  readonly maintenance: readonly Span[];
}

/** Moves changes that were recorded while the clock was ahead to the time of the next one recorded. */
export function effectiveChanges(life: Life): readonly { at: number; status: Status }[] {
  let next = Infinity;
  return life.changes
    .toReversed()
    .map(({ at, status }) => {
      next = Math.min(next, at);
      return { at: next, status };
    })
    .toReversed();
}

/** Computes the time in each status of a window by cutting it at every time at which something changes. */
export function naiveTimes(life: Life, from: number, to: number): TimeByStatus {
  const changes = effectiveChanges(life);
  const start = Math.max(from, life.createdAt);
  const edges = [...changes.map(({ at }) => at), ...life.maintenance.flatMap((span) => [span.from, span.to])];
  const cuts = [...new Set([start, ...edges.filter((at) => at > start && at < to), to])].toSorted((a, b) => a - b);
  const times = { up: 0, down: 0, unknown: 0, maintenance: 0 };
  for (const [index, at] of cuts.entries()) {
    const length = (cuts[index + 1] ?? at) - at;
    if (start >= to) continue;
    const isCovered = life.maintenance.some((span) => span.from <= at && at < span.to);
    const status = changes.findLast((change) => change.at <= at)?.status ?? "unknown";
    times[isCovered ? "maintenance" : status] += length;
  }
  return { upMs: times.up, downMs: times.down, unknownMs: times.unknown, maintenanceMs: times.maintenance };
}

/** Computes the uptime of a window. */
export function naiveUptime(life: Life, from: number, to: number): number | null {
  const { upMs: up, downMs: down } = naiveTimes(life, from, to);
  return up + down === 0 ? null : Math.floor((up * 100_000) / (up + down)) / 1_000;
}

/** Computes percentiles of successful checks from `from` to before `to`, by nearest rank. */
export function naivePercentiles(checks: readonly TestCheck[]) {
  const values = checks
    .filter(({ status = 1, isRecheck = false }) => !isRecheck && (status === 1 || status === 4))
    .flatMap(({ responseMs = 50 }) => responseMs ?? [])
    .toSorted((a, b) => a - b);
  const at = (percent: number) => values[Math.ceil((percent * values.length) / 100) - 1] ?? null;
  return { p50: at(50), p95: at(95), p99: at(99) };
}

/** Computes the points of a range from single checks. */
export function naivePoints(life: Life, { from, to }: Span, now: number) {
  const length = to - from;
  const step = length <= 6 * HOUR_MS ? 300_000 : length <= 7 * DAY_MS ? HOUR_MS : DAY_MS;
  const first = Math.floor(from / step) * step;
  // Checks from hours that have not begun were recorded while the clock was ahead.
  const end = Math.min(Math.ceil(Math.min(to, now + 1) / step) * step, Math.ceil((now + 1) / HOUR_MS) * HOUR_MS);
  const inRange = life.checks.filter(({ at, isRecheck = false }) => !isRecheck && at >= first && at < end);
  const groups = Map.groupBy(inRange, ({ at, location = "eu" }) =>
    JSON.stringify([Math.floor(at / step) * step, location]),
  );
  return Array.from(groups, ([key, checks]) => {
    const [at, location] = JSON.parse(key) as [number, string];
    const count = (...wanted: number[]) => checks.filter(({ status = 1 }) => wanted.includes(status)).length;
    return {
      at: new Date(at),
      location,
      up: count(1, 4),
      down: count(2),
      unknown: count(3),
      ...naivePercentiles(checks),
    };
  }).toSorted((a, b) => a.at.getTime() - b.at.getTime() || (a.location < b.location ? -1 : 1));
}
