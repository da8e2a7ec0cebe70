import type { Queryable } from "#control-plane/core/database/connect.ts";
import { readMaintenance } from "#control-plane/outages/history/maintenance.ts";
import { DAY_MS, type Span, nextStart } from "#control-plane/outages/history/period.ts";
import type { HistoryMonitor, MaintenanceBetween } from "#control-plane/outages/history/ports.ts";
import { sumDays } from "#control-plane/outages/history/read/store.ts";
import { readChanges, type MonitorSpan, type Progress } from "#control-plane/outages/history/store.ts";
import {
  addTimes,
  measureTime,
  NO_TIME,
  uptimePercent,
  type TimeByStatus,
} from "#control-plane/outages/history/timeline.ts";

/** Lengths in days of the windows for which the uptime is shown. Each ends now. */
const UPTIME_DAYS = { d1: 1, d7: 7, d30: 30, d90: 90 } as const;
/** Name of a window. */
type UptimeWindow = keyof typeof UPTIME_DAYS;

/**
 * How the uptime of a window is put together: whole days of the roll-up, and spans before and after them that are
 * measured from status changes.
 */
interface WindowPlan {
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

/** Uptime of each window as a percentage with three decimals; null: no time is known. */
export type Uptimes = Readonly<Record<UptimeWindow, number | null>>;

/** Reads the uptimes of monitors up to now, with a bounded number of statements and one call of the port an account. */
export async function readUptimes(
  sql: Queryable,
  monitors: readonly HistoryMonitor[],
  maintenanceBetween: MaintenanceBetween,
  now: Date,
  { openDay }: Progress,
): Promise<ReadonlyMap<number, Uptimes>> {
  const plans = planWindows(now.getTime(), openDay);
  const spans = measuredSpans(monitors, plans);
  const longest = { from: now.getTime() - UPTIME_DAYS.d90 * DAY_MS, to: now.getTime() };
  const [changes, maintenance, whole] = await Promise.all([
    readChanges(sql, spans),
    readMaintenance(sql, maintenanceBetween, monitors, longest),
    readWholeDays(sql, monitors, plans, openDay),
  ]);
  const measured = new Map<string, TimeByStatus>();
  for (const [index, span] of spans.entries()) {
    const time = measureTime(span, changes[index] ?? [], maintenance.get(span.monitorId) ?? []);
    measured.set(keyOf(span.monitorId, span), time);
  }
  return new Map(
    monitors.map((monitor) => {
      const percents = plans.map((plan) => {
        const parts = clipSpans(monitor, plan.spans).map((span) => measured.get(keyOf(monitor.id, span)) ?? NO_TIME);
        const time = [whole.get(`${monitor.id} ${plan.window}`) ?? NO_TIME, ...parts].reduce(addTimes);
        return [plan.window, uptimePercent(time)] as const;
      });
      return [monitor.id, Object.fromEntries(percents) as unknown as Uptimes] as const;
    }),
  );
}

/** Lists the spans to measure for each monitor, each once: windows share the time after the last whole day. */
function measuredSpans(monitors: readonly HistoryMonitor[], plans: readonly WindowPlan[]): readonly MonitorSpan[] {
  const distinct = new Map<string, MonitorSpan>();
  for (const monitor of monitors) {
    for (const plan of plans) {
      for (const span of clipSpans(monitor, plan.spans)) {
        distinct.set(keyOf(monitor.id, span), { monitorId: monitor.id, ...span });
      }
    }
  }
  return [...distinct.values()];
}

/** Cuts spans to the monitor's life. */
function clipSpans({ createdAt }: HistoryMonitor, spans: readonly Span[]): readonly Span[] {
  return spans
    .map(({ from, to }) => ({ from: Math.max(from, createdAt.getTime()), to }))
    .filter(({ from, to }) => from < to);
}

function keyOf(monitorId: number, { from, to }: Span): string {
  return `${monitorId} ${from} ${to}`;
}

async function readWholeDays(
  sql: Queryable,
  monitors: readonly HistoryMonitor[],
  plans: readonly WindowPlan[],
  openDay: number,
): Promise<ReadonlyMap<string, TimeByStatus>> {
  const withDays = plans.flatMap(({ window, firstDay }) => (firstDay === null ? [] : [{ window, firstDay }]));
  if (withDays.length === 0) return new Map();
  const rows = await sumDays(
    sql,
    monitors.map(({ id }) => id),
    withDays.map(({ firstDay }) => new Date(firstDay)),
    new Date(openDay),
  );
  return new Map(
    rows.map(({ monitorId, index, upMs, downMs }) => [
      `${monitorId} ${withDays[index]?.window ?? ""}`,
      { ...NO_TIME, upMs, downMs },
    ]),
  );
}
