import { mergeSpans, type Span } from "#control-plane/outages/history/period.ts";

/** What a monitor can be. Degraded counts as up. */
export type Status = "up" | "down" | "unknown";

/** A monitor's status from `at` on, in Unix milliseconds. */
export interface StatusChange {
  readonly at: number;
  readonly status: Status;
}

/** How long a monitor was in each status, in milliseconds. Maintenance is left out of the first three. */
export interface TimeByStatus {
  readonly upMs: number;
  readonly downMs: number;
  readonly unknownMs: number;
  readonly maintenanceMs: number;
}

/** No time at all. */
export const NO_TIME: TimeByStatus = { upMs: 0, downMs: 0, unknownMs: 0, maintenanceMs: 0 };

/**
 * Measures the time in each status within a window. `changes` is in ascending order; changes before the window decide
 * the status at its beginning, and before the first change the status is unknown. `maintenance` can be in any order and
 * can overlap.
 */
export function measureTime(
  window: Span,
  changes: readonly StatusChange[],
  maintenance: readonly Span[],
): TimeByStatus {
  const times = { up: 0, down: 0, unknown: 0, maintenance: 0 };
  const covered = mergeSpans(maintenance, window);
  let next = 0;
  let from = window.from;
  let status: Status = "unknown";

  /** Adds the time from `from` to `to`. Ends of segments ascend, so covered time is visited once. */
  function add(to: number): void {
    let coveredMs = 0;
    for (let span = covered[next]; span !== undefined && span.from < to; span = covered[next]) {
      coveredMs += Math.max(0, Math.min(span.to, to) - Math.max(span.from, from));
      if (span.to > to) break;
      next += 1;
    }
    times.maintenance += coveredMs;
    times[status] += to - from - coveredMs;
    from = to;
  }

  for (const change of changes) {
    if (change.at >= window.to) break;
    if (change.at > from) add(change.at);
    status = change.status;
  }
  if (window.to > from) add(window.to);
  return { upMs: times.up, downMs: times.down, unknownMs: times.unknown, maintenanceMs: times.maintenance };
}

/** Adds times of windows that do not overlap. */
export function addTimes(a: TimeByStatus, b: TimeByStatus): TimeByStatus {
  return {
    upMs: a.upMs + b.upMs,
    downMs: a.downMs + b.downMs,
    unknownMs: a.unknownMs + b.unknownMs,
    maintenanceMs: a.maintenanceMs + b.maintenanceMs,
  };
}

/**
 * Returns the uptime as a percentage with three decimals, rounded down, so that 100 means no outage at all. Unknown time
 * and maintenance are left out. null: no time is known.
 */
export function uptimePercent({ upMs, downMs }: Pick<TimeByStatus, "upMs" | "downMs">): number | null {
  const known = upMs + downMs;
  return known === 0 ? null : Math.floor((upMs * 100_000) / known) / 1_000;
}
