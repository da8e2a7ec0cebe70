import { readMonitorStatuses } from "#control-plane/watching/checking/monitor-status.ts";
import type { Queryable } from "#control-plane/core/database/connect.ts";
import { coveredBetween } from "#control-plane/outages/maintenance/coverage/coverage.ts";
import { listBriefly, type BriefMonitor } from "#control-plane/monitors/store.ts";

/** State of a monitor in a list: paused before all. */
export type ListedState = "down" | "degraded" | "unknown" | "up" | "paused";

/** A monitor in a list of all monitors of an account. */
export interface ListedMonitor extends BriefMonitor {
  readonly state: ListedState;
  /** Whether maintenance covers it now: whatever its state is, nobody is alerted. */
  readonly isMuted: boolean;
  readonly isFlapping: boolean;
  /** What people should know about a monitor that is up; null: nothing. */
  readonly advisory: string | null;
  /** When it became up or down; null if it was never checked. */
  readonly since: Date | null;
  readonly lastCheckedAt: Date | null;
  /** Message of its newest fault; null: nothing fails. */
  readonly error: string | null;
}

/** Reads all monitors of an account with their states, newest first: three statements for any number. */
export async function readOverview(sql: Queryable, accountId: number, now: Date): Promise<readonly ListedMonitor[]> {
  const monitors = await listBriefly(sql, accountId);
  const [states, covered] = await Promise.all([
    readMonitorStatuses(
      sql,
      monitors.map(({ id }) => id),
    ),
    coveredBetween(sql, accountId, monitors, now, new Date(now.getTime() + 1)),
  ]);
  return monitors.map((monitor): ListedMonitor => {
    const facts = states.get(monitor.id);
    const status = facts?.isDegraded === true ? "degraded" : (facts?.status ?? "unknown");
    return {
      ...monitor,
      state: monitor.isActive ? status : "paused",
      isMuted: covered.has(monitor.id),
      isFlapping: facts?.isFlapping ?? false,
      advisory: facts?.advisory?.message ?? null,
      since: facts?.lastChangeAt ?? null,
      lastCheckedAt: facts?.lastCheckedAt ?? null,
      error: facts?.lastError?.message ?? null,
    };
  });
}
