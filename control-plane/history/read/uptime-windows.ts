import { DAY_MS, nextStart, type Span } from "#control-plane/history/period.ts";

/** Lengths in days of the windows for which the uptime is shown. Each ends now. */
export const UPTIME_DAYS = { d1: 1, d7: 7, d30: 30, d90: 90 } as const;
/** Name of a window. */
export type UptimeWindow = keyof typeof UPTIME_DAYS;

/**
 * How the uptime of a window is put together: whole days of the roll-up, and spans before and after them that are
 * measured from status changes.
 */
export interface WindowPlan {
  readonly window: UptimeWindow;
  /** First whole day, in Unix milliseconds; the last is the one before `openDay`. null: the window has none. */
  readonly firstDay: number | null;
  readonly spans: readonly Span[];
}

/** Plans the windows that end at `now`, from the beginning of the first day that the roll-up does not have. */
export function planWindows(now: number, openDay: number): readonly WindowPlan[] {
  return (Object.keys(UPTIME_DAYS) as UptimeWindow[]).map((window) => {
    const from = now - UPTIME_DAYS[window] * DAY_MS;
    const firstDay = nextStart(from, DAY_MS);
    if (firstDay >= openDay || openDay > now) return { window, firstDay: null, spans: [{ from, to: now }] };
    const spans = [
      { from, to: firstDay },
      { from: openDay, to: now },
    ];
    return { window, firstDay, spans };
  });
}
