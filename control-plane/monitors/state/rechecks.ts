import type { Confirmation } from "#control-plane/monitors/state/confirmation.ts";
import { isFresh } from "#control-plane/monitors/state/freshness.ts";
import type { StateSettings } from "#control-plane/monitors/state/settings.ts";
import type { MonitorState } from "#control-plane/monitors/state/state.ts";
import type { KnownObservation } from "#control-plane/monitors/state/verdicts.ts";

/** An extra check to schedule. */
export interface Recheck {
  readonly location: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Pause between two checks that confirm something at one location, in milliseconds. */
export const RECHECK_MS = 1_000;

/**
 * Plans the extra checks after an observation. `state` is the state after it.
 *
 * - An outage or a recovery that the location has not confirmed: the location again, until it has.
 * - A failure of one of several locations: the others at once, and the location again.
 *
 * A confirmed outage and a location that keeps failing alone need none. A failing recheck asks the others only for a
 * further confirmation, because the failure before it has asked them. A passive monitor has no checks to ask for.
 */
export function planRechecks(
  settings: StateSettings,
  state: MonitorState,
  observation: KnownObservation,
  needed: Confirmation,
  now: number,
): readonly Recheck[] {
  if (settings.isPassive) return [];
  const streak = state.locations.get(observation.location)?.streak ?? 0;
  const again = { location: observation.location, at: now + RECHECK_MS };
  if (observation.verdict === "up") {
    return state.lastKnown === "down" && streak < needed.successes ? [again] : [];
  }
  if (state.status === "down") return [];
  if (settings.locations.length === 1) return streak < needed.failures ? [again] : [];
  if (streak > 1 && streak >= needed.failures) return [];
  return streak === 1 && observation.isRecheck ? [again] : [...askOthers(settings, state, observation, now), again];
}

/** Lists the other locations that can contribute: not those that already fail or have just been checked. */
function askOthers(
  settings: StateSettings,
  { locations }: MonitorState,
  observation: KnownObservation,
  now: number,
): readonly Recheck[] {
  return settings.locations
    .filter((location) => {
      if (location === observation.location) return false;
      const known = locations.get(location);
      if (known === undefined || !isFresh(settings, known, now)) return true;
      return known.verdict === "up" && now - known.at >= RECHECK_MS;
    })
    .map((location) => ({ location, at: now }));
}
