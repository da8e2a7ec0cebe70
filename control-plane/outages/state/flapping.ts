import type { StateEvent } from "#control-plane/outages/state/events.ts";
import type { MonitorState } from "#control-plane/outages/state/state.ts";

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
const HELD_MS = 30_000;

/**
 * Returns the notice about flapping that is due; null: none is. The first is due until somebody was notified
 * (hold-notices.ts), then one every 30 minutes, and the last when it ends, if somebody was notified.
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
