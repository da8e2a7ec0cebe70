import type { Source, Stage } from "#shared/contracts/outcome.ts";

/** The status of a monitor. Whether it is degraded is a separate fact about one that is up. */
export type Status = "up" | "down" | "unknown";

/**
 * The soft state of a location: planned checks in a row that failed and passed on their re-check. The re-check of the
 * newest one can still be under way.
 */
export interface SoftState {
  readonly failed: number;
  /** When the first of these checks began, Unix milliseconds. */
  readonly since: number;
  /** Fault of the newest of these checks. */
  readonly fault: CheckFault | null;
}

/** The newest verdict of a location. Times are Unix milliseconds. */
export interface LocationState {
  readonly verdict: "up" | "down";
  /** When the check of this verdict began. */
  readonly at: number;
  /** Number of checks in a row with this verdict. */
  readonly streak: number;
  /** When the first check of the streak began. */
  readonly since: number;
  /** Fault of the newest failing check; null if the verdict is up. */
  readonly fault: CheckFault | null;
  /** Absent: the newest planned check was good, or its failure goes on. */
  readonly softState?: SoftState;
}

/**
 * The silenced notice of the present outage. It waits because the monitor is in maintenance or the monitor it depends
 * on is down, or for a moment until the next checks of that monitor decide whether it is. Times are Unix milliseconds.
 */
export type SilencedNotice = {
  /** Status before the outage, for the notice. */
  readonly previous: "up" | "unknown";
} & (
  | {
      readonly reason: "maintenance" | "dependency";
      /** When the reason was first found to have ended; null if it still applies. */
      readonly endedAt: number | null;
    }
  | {
      readonly reason: "undecided";
      /** When the outage was confirmed. */
      readonly silencedAt: number;
    }
);

/** The monitor has no data: too few results are fresh to judge it. Does not apply to a monitor that waits for pings. */
export interface NoData {
  /** When it began, Unix milliseconds. */
  readonly since: number;
  /** Whether people were notified. */
  readonly isNotified: boolean;
}

/** A location at a time, Unix milliseconds. */
export interface DatedLocation {
  readonly location: string;
  readonly at: number;
}

/** Everything that the next transition of a monitor depends on. Times are Unix milliseconds. */
export interface MonitorState {
  readonly status: Status;
  /** The newest status other than unknown, with which events compare; null: none yet. */
  readonly lastKnown: "up" | "down" | null;
  /** When the status last changed; null: never. */
  readonly changedAt: number | null;
  /** When lastKnown began: the first failing check of the outage, or the first good one since; null: none yet. */
  readonly knownSince: number | null;
  /** When the newest failing check began, of any location; null: none has failed. A recovery begins after it. */
  readonly failedAt: number | null;
  /** Whether it is degraded while it is up; while the status is unknown: whether it was. */
  readonly isDegraded: boolean;
  /**
   * Whether a notice was sent that the monitor is degraded, and none since then of its end or of an outage; if not, none
   * is sent when it no longer is.
   */
  readonly isDegradedReported: boolean;
  /** Good checks in a row that were slower than degradedMs, 3 at most; negative: that were not. */
  readonly slowStreak: number;
  /** Times of the newest changes between up and down within the last hour, oldest first, 5 at most. */
  readonly changes: readonly number[];
  readonly isFlapping: boolean;
  /** When people were last notified that it is flapping; null if they were not notified, or it is not flapping. */
  readonly flappingNotifiedAt: number | null;
  /**
   * The failing locations as the newest event named them. While up: those that keep failing while the others succeed
   * (the advisory). While down: all that fail. While unknown: those of lastKnown.
   */
  readonly failing: readonly string[];
  /** The locations that stay in a soft state, as the newest event named them; empty while the monitor is down. */
  readonly unsteady: readonly string[];
  /** When the next reminder of the outage is due; null: none is. */
  readonly remindAt: number | null;
  readonly silenced: SilencedNotice | null;
  /** The incident of the present outage, set by the caller of the transition; null: none is open. */
  readonly incidentId: number | null;
  /** By configured location; a missing one has no verdict yet, or cannot check. */
  readonly locations: ReadonlyMap<string, LocationState>;
  /**
   * Locations that are offline: the probe's own network was down. Each with the beginning of its newest check that said
   * so.
   */
  readonly offline: readonly DatedLocation[];
  /**
   * The sole eligible location of several, which then decides, and when it was last the sole one; null if there is none.
   */
  readonly sole: DatedLocation | null;
  /** null if there are enough results, or the state was never evaluated. */
  readonly noData: NoData | null;
}

/** The state of a monitor that is new, resumed, or has a new target. */
export const NEW_STATE: MonitorState = {
  status: "unknown",
  lastKnown: null,
  changedAt: null,
  knownSince: null,
  failedAt: null,
  isDegraded: false,
  isDegradedReported: false,
  slowStreak: 0,
  changes: [],
  isFlapping: false,
  flappingNotifiedAt: null,
  failing: [],
  unsteady: [],
  remindAt: null,
  silenced: null,
  incidentId: null,
  locations: new Map(),
  offline: [],
  sole: null,
  noData: null,
};

/** Why a check failed. */
export interface CheckFault {
  readonly stage: Stage;
  readonly source: Source;
  /** A stable snake_case word. */
  readonly reason: string;
  /** For people; one line without control characters. A state keeps the first 200 of them. */
  readonly message: string;
}

/** What one check at one location found. */
export interface Observation {
  /** One of the configured locations. */
  readonly location: string;
  /**
   * unknown: the probe or its network failed, or no probe was available. With a fault of the target: it answered, but with
   * nothing that can be judged.
   */
  readonly verdict: "up" | "down" | "unknown";
  /** Unix milliseconds of the beginning of the check. */
  readonly beganAt: number;
  readonly responseMs: number | null;
  /** null if the verdict is up. */
  readonly fault: CheckFault | null;
  /** An extra check that confirms an outage or a recovery. */
  readonly isRecheck: boolean;
}

/** The settings on which a monitor's state depends. Durations are in milliseconds. */
export interface StateSettings {
  /** The locations that the monitor is checked from, at least one, each once. */
  readonly locations: readonly string[];
  /** Locations without a connected agent. They have no vote if the monitor has several locations. */
  readonly withoutAgent: readonly string[];
  /** How many fresh locations must fail, all of them if there are fewer; majority: more than half of them. */
  readonly quorum: "majority" | number;
  /**
   * With one location: further checks that must fail before the monitor is down; at least 2 if it is the sole one left.
   */
  readonly retries: number;
  /** How many times in a row a location must succeed before it counts as up again after an outage. */
  readonly recovery: number;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** A slower answer counts as degraded; null: none does. */
  readonly degradedMs: number | null;
  /** Pause between two reminders of an outage; null: no reminders. */
  readonly repeatMs: number | null;
  /**
   * Observations come from outside, as the pings of a heartbeat do, and cannot be repeated on request: a verdict counts
   * until the next one, no rechecks are planned, and flapping does not raise the confirmation.
   */
  readonly isPassive: boolean;
}

/**
 * Returns the settings of the state machine for a monitor that no probe checks: one verdict, kept under a name in place
 * of a location, which counts at once and never gets old. `repeatMinutes`: pause between reminders; null: none.
 */
export function passiveSettings(location: string, repeatMinutes: number | null): StateSettings {
  return {
    locations: [location],
    withoutAgent: [],
    quorum: "majority",
    retries: 0,
    recovery: 1,
    intervalMs: 0,
    timeoutMs: 0,
    degradedMs: null,
    repeatMs: repeatMinutes === null ? null : repeatMinutes * 60_000,
    isPassive: true,
  };
}
