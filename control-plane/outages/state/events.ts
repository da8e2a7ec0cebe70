import type { CheckFault, MonitorState, Unwatched } from "#control-plane/outages/state/state.ts";

/** A location that fails, with its newest fault. */
export interface FailingLocation {
  readonly location: string;
  readonly fault: CheckFault | null;
  /** Unix milliseconds of the first failing check of the streak. */
  readonly since: number;
  /** Present: it is the only one of several locations that can check. */
  readonly isAlone?: true;
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
  /** `responseMs` is that of the newest check; null: it is not slow, but its first tries fail each time. */
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
   * Planned checks of some locations fail each time and pass on the re-check, while the monitor is up; an empty list ends
   * it. `since` is the beginning of the first of them. `isNew`: those of no location did before.
   */
  | {
      readonly kind: "first_tries";
      readonly at: number;
      readonly failing: readonly FailingLocation[];
      readonly isNew: boolean;
    }
  /** The outage lasts, and a reminder is due. */
  | { readonly kind: "reminder"; readonly at: number }
  /** It has lacked results since `since`, and people are to be notified. `silent`: the locations without a fresh verdict. */
  | { readonly kind: "unwatched"; readonly at: number; readonly since: number; readonly silent: readonly string[] }
  /** It has results again, after people were notified that it lacked them since `since`. */
  | { readonly kind: "watched"; readonly at: number; readonly since: number };

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
/** Time between two looks at a monitor whose notice is held back, in milliseconds. */
export const HELD_MS = 30_000;

/**
 * Returns the notice about flapping that is due; null: none is. The first is due until somebody was notified
 * (notices.ts), then one every 30 minutes, and the last when it ends, if somebody was notified.
 */
export function flappingNotice(
  { flappingToldAt: toldAt }: Pick<MonitorState, "flappingToldAt">,
  isFlapping: boolean,
  now: number,
): StateEvent | null {
  if (!isFlapping) return toldAt === null ? null : { kind: "flapping_notice", at: now, phase: "ends" };
  if (toldAt === null) return { kind: "flapping_notice", at: now, phase: "begins" };
  return now - toldAt >= NOTICE_MS ? { kind: "flapping_notice", at: now, phase: "lasts" } : null;
}

/** Returns when a flapping monitor has its next notice, or stops flapping, Unix milliseconds; null: it is not flapping. */
export function nextFlappingLook(
  { isFlapping, flappingToldAt, changes }: Pick<MonitorState, "isFlapping" | "flappingToldAt" | "changes">,
  now: number,
): number | null {
  if (!isFlapping) return null;
  const [oldest = now] = changes;
  const dueAt = flappingToldAt === null ? now : flappingToldAt + NOTICE_MS;
  return Math.min(oldest + HOUR_MS, dueAt > now ? dueAt : now + HELD_MS);
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

/** Time for which a monitor must lack results before people are notified, in milliseconds. */
const PATIENCE_MS = 600_000;

/** Whether a monitor has results, after a transition. */
interface WatchedFacts {
  /** Whether enough of its results are fresh to judge it. */
  readonly isWatched: boolean;
  /** The locations without a fresh result. */
  readonly silent: readonly string[];
}

/** What a transition says about the lack of results. */
interface UnwatchedChange {
  readonly unwatched: Unwatched | null;
  /** null: none. */
  readonly event: StateEvent | null;
}

/**
 * Returns since when a monitor lacks results, and the event that is due. The event of a lack is due until somebody was
 * told (notices.ts), and the event of its end only if somebody was.
 */
export function nextUnwatched(
  { unwatched: before }: Pick<MonitorState, "unwatched">,
  { isWatched, silent }: WatchedFacts,
  now: number,
): UnwatchedChange {
  if (isWatched) {
    const event: StateEvent | null = before?.isTold === true ? { kind: "watched", at: now, since: before.since } : null;
    return { unwatched: null, event };
  }
  const unwatched = before ?? { since: now, isTold: false };
  const { since, isTold } = unwatched;
  const isDue = !isTold && now - since >= PATIENCE_MS;
  return { unwatched, event: isDue ? { kind: "unwatched", at: now, since, silent } : null };
}

/** Returns when the notice of a lack of results is due, Unix milliseconds; null: none is to come. */
export function unwatchedDueAt({ unwatched }: Pick<MonitorState, "unwatched">, now: number): number | null {
  if (unwatched === null || unwatched.isTold) return null;
  const dueAt = unwatched.since + PATIENCE_MS;
  return dueAt > now ? dueAt : now + HELD_MS;
}
