import { freshLocations, staleAt } from "#control-plane/outages/state/freshness.ts";
import { nextFlappingLook } from "#control-plane/outages/state/flapping.ts";
import type { StateSettings } from "#control-plane/outages/state/settings.ts";
import type { MonitorState } from "#control-plane/outages/state/state.ts";
import { unwatchedDueAt } from "#control-plane/outages/state/unwatched.ts";

/** Longest time between two visits, in milliseconds: other settings can make results old earlier than was planned. */
const MOST_MS = 600_000;

/** Time between two visits of a monitor that nobody checks, and whose notice is held back, in milliseconds. */
const HELD_MS = 30_000;

/**
 * Returns when time alone can next change something about a monitor: one of its results
 * gets too old to count, or people are to be notified that it lacks them, or of its flapping; of one that nobody
 * checks also that a reminder is due, or that a reason to hold notices has ended. All times are Unix
 * milliseconds. Newer results only move that to a later time, so a visit can find that nothing has happened.
 */
export function nextVisit(settings: StateSettings, state: MonitorState, now: number): number {
  const times = [now + MOST_MS];
  if (settings.isPassive) {
    if (state.remindAt !== null) times.push(state.remindAt);
    if (state.held !== null) times.push(now + HELD_MS);
  } else if (state.status !== "unknown") {
    for (const { known } of freshLocations(settings, state.locations, now)) times.push(staleAt(settings, known));
  }
  const dueAt = unwatchedDueAt(state, now);
  if (dueAt !== null) times.push(dueAt);
  const lookAt = nextFlappingLook(state, now);
  if (lookAt !== null) times.push(lookAt);
  return Math.min(...times);
}
