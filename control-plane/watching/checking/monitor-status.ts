import { readScheduledStates } from "#control-plane/watching/checking/schedule/store.ts";
import type { Queryable } from "#control-plane/core/database/connect.ts";
import { describeAdvisory, type Advisory } from "#control-plane/outages/state/votes.ts";
import { decodeState } from "#control-plane/outages/state/encoding.ts";
import type { CheckFault, MonitorState } from "#control-plane/outages/state/state.ts";

/** The status of a monitor, by the state machine and the schedule. */
export interface MonitorStatus {
  readonly status: "up" | "down" | "unknown";
  readonly isDegraded: boolean;
  readonly isFlapping: boolean;
  /**
   * What people should know about a monitor that is up: locations that fail while others succeed, or stay in a soft
   * state; null: nothing.
   */
  readonly advisory: Advisory | null;
  readonly lastCheckedAt: Date | null;
  readonly nextCheckAt: Date | null;
  /** How much later than planned the newest check began, in milliseconds. */
  readonly scheduleLagMs: number | null;
  readonly lastChangeAt: Date | null;
  /** Fault of the newest failing check, including one that passed on the re-check. */
  readonly lastError: CheckFault | null;
}

/** Reads the status of monitors, by id. Unknown monitors are missing. */
export async function readMonitorStatuses(
  sql: Queryable,
  ids: readonly number[],
): Promise<ReadonlyMap<number, MonitorStatus>> {
  const rows = await readScheduledStates(sql, ids);
  return new Map(
    rows.map(({ monitorId, state: text, lastCheckedAt, nextCheckAt, lagMs }): [number, MonitorStatus] => {
      const state = decodeState(text);
      return [
        monitorId,
        {
          status: state.status,
          isDegraded: state.status === "up" && state.isDegraded,
          isFlapping: state.isFlapping,
          advisory: describeAdvisory(state),
          lastCheckedAt,
          nextCheckAt,
          scheduleLagMs: lagMs,
          lastChangeAt: state.changedAt === null ? null : new Date(state.changedAt),
          lastError: newestFault(state),
        },
      ];
    }),
  );
}

/** The status of a location of a monitor. */
export interface LocationStatus {
  readonly location: string;
  readonly verdict: "up" | "down";
  /** When the first check of this verdict began. */
  readonly since: Date;
  /** Fault of its newest failing check; null if its verdict is up. */
  readonly fault: CheckFault | null;
}

/** Reads the status of each location of a monitor: those that fail first, then by name. */
export async function readLocationStatuses(sql: Queryable, monitorId: number): Promise<readonly LocationStatus[]> {
  const [row] = await readScheduledStates(sql, [monitorId]);
  if (row === undefined) return [];
  const facts = Array.from(decodeState(row.state).locations, ([location, { verdict, since, fault }]) => {
    return { location, verdict, since: new Date(since), fault };
  });
  return facts.toSorted((one, other) =>
    one.verdict === other.verdict ? (one.location < other.location ? -1 : 1) : one.verdict === "down" ? -1 : 1,
  );
}

/**
 * Returns the fault of the location that failed most recently, including one that passed on the re-check; null if none
 * fails.
 */
function newestFault({ locations }: MonitorState): MonitorStatus["lastError"] {
  const faults = Array.from(locations.values()).flatMap(({ at, fault, softState }) => {
    const newest = fault ?? softState?.fault ?? null;
    return newest === null ? [] : { at, fault: newest };
  });
  return faults.toSorted((one, other) => other.at - one.at)[0]?.fault ?? null;
}
