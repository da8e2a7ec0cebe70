import type { ShownDay, ShownMonitor } from "#control-plane/public/status-pages/page.ts";

/** Number of days that a page shows. */
export const SHOWN_DAYS = 90;
const DAY_MS = 86_400_000;

/** How long a monitor was in each status, in milliseconds. */
interface Times {
  readonly upMs: number;
  readonly downMs: number;
  readonly maintenanceMs: number;
}

/** Returns the names of the last UTC days, oldest first. */
export function lastDays(now: Date): readonly string[] {
  return Array.from({ length: SHOWN_DAYS }, (_, index) =>
    new Date(now.getTime() - (SHOWN_DAYS - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  );
}

/** Returns what a page shows of a monitor's days; `percent` gives the uptime of times. */
export function showDays(
  days: readonly string[],
  times: readonly Times[],
  percent: (times: Times) => number | null,
): Pick<ShownMonitor, "days" | "uptime90"> {
  const shown = days.map((day, index): ShownDay => {
    const time = times[index] ?? NO_TIMES;
    return {
      day,
      uptime: percent(time),
      downSeconds: Math.round(time.downMs / 1_000),
      maintenanceSeconds: Math.round(time.maintenanceMs / 1_000),
    };
  });
  const sum = (field: "upMs" | "downMs") => times.reduce((total, time) => total + time[field], 0);
  return { days: shown, uptime90: percent({ upMs: sum("upMs"), downMs: sum("downMs"), maintenanceMs: 0 }) };
}

const NO_TIMES: Times = { upMs: 0, downMs: 0, maintenanceMs: 0 };
