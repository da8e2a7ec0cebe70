import type { CheckFault, MonitorState, NoData } from "#control-plane/outages/state/state.ts";

/** A location that fails, with its newest fault. */
export interface FailingLocation {
  readonly location: string;
  readonly fault: CheckFault | null;
  /** Unix milliseconds of the first failing check of the streak. */
  readonly since: number;
  /** Present: it is the sole eligible location of several. */
  readonly isSole?: true;
}

/** What a transition changed. Times are Unix milliseconds. `at` is the time of the transition. */
export type StateEvent =
  /**
   * The outage is confirmed. `isNotice`: the last known status was not down, so this is the beginning of an outage and
   * not the return of a known one after a time without observations.
   */
  | {
      readonly kind: "down";
      readonly at: number;
      /** The first failing check of the outage. */
      readonly startedAt: number;
      readonly previous: "up" | "unknown";
      readonly isNotice: boolean;
      /** Every location that fails, those not yet confirmed included. */
      readonly failing: readonly FailingLocation[];
    }
  /** Up again, or known for the first time. `isNotice`: the last known status was down. */
  | {
      readonly kind: "up";
      readonly at: number;
      /** The first good check of the recovery. */
      readonly recoveredAt: number;
      readonly previous: "down" | "unknown";
      readonly isNotice: boolean;
    }
  /** Too little is fresh to know the status. `silent`: the locations without a fresh verdict. */
  | {
      readonly kind: "unknown";
      readonly at: number;
      readonly previous: "up" | "down";
      readonly silent: readonly string[];
    }
  /** Other locations fail than before, while the monitor stays down. */
  | { readonly kind: "failing"; readonly at: number; readonly failing: readonly FailingLocation[] }
  /** `responseMs` is that of the newest check; null if it is not slow, but locations stay in a soft state. */
  | { readonly kind: "degraded"; readonly at: number; readonly responseMs: number | null }
  /** No longer degraded, while up. */
  | { readonly kind: "recovered_speed"; readonly at: number }
  | { readonly kind: "flapping"; readonly at: number; readonly isFlapping: boolean }
  /** People are to be notified that it begins to be flapping, still is, or no longer is. */
  | { readonly kind: "flapping_notice"; readonly at: number; readonly phase: "begins" | "lasts" | "ends" }
  /** Some locations keep failing while the monitor is up; an empty list ends it. `isNew`: none did before. */
  | {
      readonly kind: "advisory";
      readonly at: number;
      readonly failing: readonly FailingLocation[];
      readonly isNew: boolean;
    }
  /**
   * Some locations stay in a soft state while the monitor is up: each planned check fails and passes on the re-check.
   * An empty list ends it. `since` is the beginning of the first of these checks. `isNew`: no location did before.
   */
  | {
      readonly kind: "soft_state";
      readonly at: number;
      readonly failing: readonly FailingLocation[];
      readonly isNew: boolean;
    }
  /** The outage lasts, and a reminder is due. */
  | { readonly kind: "reminder"; readonly at: number }
  /**
   * It has had no data since `since`, and people are to be notified. `silent`: the locations without a fresh verdict.
   */
  | { readonly kind: "no_data"; readonly at: number; readonly since: number; readonly silent: readonly string[] }
  /** It has data again, after people were notified that it had none since `since`. */
  | { readonly kind: "data_returned"; readonly at: number; readonly since: number };

const HOUR_MS = 3_600_000;
/** Changes within an hour that are not flapping yet. */
const MOST_CHANGES = 4;

/** Returns the changes of the last hour. Times are Unix milliseconds. */
export function recentChanges(changes: readonly number[], now: number): readonly number[] {
  return changes.every((at) => now - at < HOUR_MS) ? changes : changes.filter((at) => now - at < HOUR_MS);
}

/** Adds a change. More than are needed to see that a monitor is flapping are not kept. */
export function addChange(changes: readonly number[], now: number): readonly number[] {
  return [...changes.slice(-MOST_CHANGES), now];
}

/** Reports whether a monitor with these changes within the last hour is flapping. */
export function areFlapping(changes: readonly number[]): boolean {
  return changes.length > MOST_CHANGES;
}

/** Pause between two notices that a monitor is flapping, in milliseconds. */
const NOTICE_MS = 1_800_000;
/** Time between two looks at a monitor whose notice is silenced, in milliseconds. */
export const SILENCED_MS = 30_000;

/**
 * Returns the notice about flapping that is due; null: none is. The first is due until somebody was notified
 * (notices.ts), then one every 30 minutes, and the last when it ends, if somebody was notified.
 */
export function flappingNotice(
  { flappingNotifiedAt: notifiedAt }: Pick<MonitorState, "flappingNotifiedAt">,
  isFlapping: boolean,
  now: number,
): StateEvent | null {
  if (!isFlapping) return notifiedAt === null ? null : { kind: "flapping_notice", at: now, phase: "ends" };
  if (notifiedAt === null) return { kind: "flapping_notice", at: now, phase: "begins" };
  return now - notifiedAt >= NOTICE_MS ? { kind: "flapping_notice", at: now, phase: "lasts" } : null;
}

/** Returns when a flapping monitor has its next notice, or stops flapping, Unix milliseconds; null if it is not flapping. */
export function nextFlappingLook(
  { isFlapping, flappingNotifiedAt, changes }: Pick<MonitorState, "isFlapping" | "flappingNotifiedAt" | "changes">,
  now: number,
): number | null {
  if (!isFlapping) return null;
  const [oldest = now] = changes;
  const dueAt = flappingNotifiedAt === null ? now : flappingNotifiedAt + NOTICE_MS;
  return Math.min(oldest + HOUR_MS, dueAt > now ? dueAt : now + SILENCED_MS);
}

/**
 * Returns from when on the history shows the new status after an event, Unix milliseconds; null if the status did not
 * change. An outage counts from its first failing check, but not from before a time in which the status was unknown:
 * nobody knew then, also if the same outage continues.
 */
export function statusChangedAt(event: StateEvent, { status, changedAt }: MonitorState): number | null {
  switch (event.kind) {
    case "down": {
      if (status !== "unknown" || changedAt === null) return event.startedAt;
      const since = Math.min(event.at, ...event.failing.map((failing) => failing.since));
      return Math.min(event.at, Math.max(since, changedAt));
    }
    case "up":
      return event.recoveredAt;
    case "unknown":
      return event.at;
    default:
      return null;
  }
}

/** Time for which a monitor must have no data before people are notified, in milliseconds. */
const PATIENCE_MS = 600_000;

/** Whether a monitor has data, after a transition. */
interface DataCoverage {
  /** Whether enough of its results are fresh to judge it. */
  readonly hasData: boolean;
  /** The locations without a fresh result. */
  readonly silent: readonly string[];
}

/** The state without data after a transition. */
interface NoDataChange {
  readonly noData: NoData | null;
  /** null: none. */
  readonly event: StateEvent | null;
}

/**
 * Returns since when a monitor has no data, and the event that is due. The event is due until somebody was notified
 * (notices.ts), and that of the end only if somebody was.
 */
export function nextNoData(
  { noData: before }: Pick<MonitorState, "noData">,
  { hasData, silent }: DataCoverage,
  now: number,
): NoDataChange {
  if (hasData) {
    const event: StateEvent | null =
      before?.isNotified === true ? { kind: "data_returned", at: now, since: before.since } : null;
    return { noData: null, event };
  }
  const noData = before ?? { since: now, isNotified: false };
  const { since, isNotified } = noData;
  const isDue = !isNotified && now - since >= PATIENCE_MS;
  return { noData, event: isDue ? { kind: "no_data", at: now, since, silent } : null };
}

/** Returns when the notice that a monitor has no data is due, Unix milliseconds; null: none is expected. */
export function noDataDueAt({ noData }: Pick<MonitorState, "noData">, now: number): number | null {
  if (noData === null || noData.isNotified) return null;
  const dueAt = noData.since + PATIENCE_MS;
  return dueAt > now ? dueAt : now + SILENCED_MS;
}
