import { readSlotFacts } from "#control-plane/watching/checking/schedule/store.ts";
import type { Queryable } from "#control-plane/core/database/connect.ts";
import { describeAdvisory, type Advisory } from "#control-plane/outages/state/votes.ts";
import { decodeState } from "#control-plane/outages/state/encoding.ts";
import type { CheckFault, MonitorState } from "#control-plane/outages/state/state.ts";

/** What the state machine and the schedule know about a monitor. */
export interface StateFacts {
  readonly status: "up" | "down" | "unknown";
  readonly isDegraded: boolean;
  readonly isFlapping: boolean;
  /** What people should know about a monitor that is up: locations that fail, alone or at the first try; null: nothing. */
  readonly advisory: Advisory | null;
  readonly lastCheckedAt: Date | null;
  readonly nextCheckAt: Date | null;
  /** How much later than planned the newest check began, in milliseconds. */
  readonly scheduleLagMs: number | null;
  readonly lastChangeAt: Date | null;
  /** Fault of the newest failing check, that of a first try which passed on the re-check included. */
  readonly lastError: CheckFault | null;
}

/** Reads what the state machine and the schedule know about monitors, by id. Unknown monitors are missing. */
export async function readStateFacts(sql: Queryable, ids: readonly number[]): Promise<ReadonlyMap<number, StateFacts>> {
  const rows = await readSlotFacts(sql, ids);
  return new Map(
    rows.map(({ monitorId, state: text, lastCheckedAt, nextCheckAt, lagMs }): [number, StateFacts] => {
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

/** What the state of a monitor knows about a location. */
export interface LocationFacts {
  readonly location: string;
  readonly verdict: "up" | "down";
  /** When the first check of this verdict began. */
  readonly since: Date;
  /** Fault of its newest failing check; null: it does not fail. */
  readonly fault: CheckFault | null;
}

/** Reads what the state of a monitor knows about its locations: those that fail first, then by name. */
export async function readLocationFacts(sql: Queryable, monitorId: number): Promise<readonly LocationFacts[]> {
  const [row] = await readSlotFacts(sql, [monitorId]);
  if (row === undefined) return [];
  const facts = Array.from(decodeState(row.state).locations, ([location, { verdict, since, fault }]) => {
    return { location, verdict, since: new Date(since), fault };
  });
  return facts.toSorted((one, other) =>
    one.verdict === other.verdict ? (one.location < other.location ? -1 : 1) : one.verdict === "down" ? -1 : 1,
  );
}

/**
 * Returns the fault of the location that failed most recently, of a first try that passed on the re-check included; null if
 * none fails.
 */
function newestFault({ locations }: MonitorState): StateFacts["lastError"] {
  const faults = Array.from(locations.values()).flatMap(({ at, fault, softState }) => {
    const newest = fault ?? softState?.fault ?? null;
    return newest === null ? [] : { at, fault: newest };
  });
  return faults.toSorted((one, other) => other.at - one.at)[0]?.fault ?? null;
}
