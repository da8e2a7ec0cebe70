import type { FailingLocation, StateEvent } from "#control-plane/monitors/state/events.ts";
import type { FreshLocation } from "#control-plane/monitors/state/freshness.ts";
import type { StateSettings } from "#control-plane/monitors/state/settings.ts";
import type { MonitorState, Status } from "#control-plane/monitors/state/state.ts";

/** Failures in a row after which a location keeps failing. */
export const KEEPS_FAILING = 3;

/** The failing locations to name in the state, and the event if they have changed; null: no event. */
interface FailingChange {
  readonly failing: readonly string[];
  readonly event: StateEvent | null;
}

/** Lists the locations whose newest verdict is down. */
export function failingLocations(fresh: readonly FreshLocation[]): readonly FailingLocation[] {
  return fresh
    .filter(({ known }) => known.verdict === "down")
    .map(({ location, known: { fault, since } }) => ({ location, fault, since }));
}

/** Lists the locations of a monitor that is up which keep failing. A single location only confirms its own failure. */
function failingAlone(settings: StateSettings, fresh: readonly FreshLocation[]): readonly FailingLocation[] {
  if (settings.locations.length === 1) return [];
  return failingLocations(fresh.filter(({ known }) => known.streak >= KEEPS_FAILING));
}

/** Returns the failing locations after a transition to `status`, which can be the status before. */
export function nextFailing(
  settings: StateSettings,
  before: MonitorState,
  status: Status,
  fresh: readonly FreshLocation[],
  now: number,
): FailingChange {
  if (status === "unknown") return { failing: before.failing, event: null };
  if (status === "down") {
    const failing = failingLocations(fresh);
    // The event of a new outage names them itself.
    const isChanged = before.status === "down" && !isSame(before.failing, failing);
    return { failing: names(failing), event: isChanged ? { kind: "failing", at: now, failing } : null };
  }
  const failing = failingAlone(settings, fresh);
  const named = before.lastKnown === "down" ? [] : before.failing;
  return { failing: names(failing), event: isSame(named, failing) ? null : { kind: "advisory", at: now, failing } };
}

function names(failing: readonly FailingLocation[]): readonly string[] {
  return failing.map(({ location }) => location);
}

function isSame(named: readonly string[], failing: readonly FailingLocation[]): boolean {
  return named.length === failing.length && failing.every(({ location }) => named.includes(location));
}
