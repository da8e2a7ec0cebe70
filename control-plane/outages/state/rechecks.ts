import type { Confirmation } from "#control-plane/outages/state/votes.ts";
import {
  KEEPS_FAILING,
  isFresh,
  type KnownObservation,
  freshLocations,
  staleAt,
} from "#control-plane/outages/state/locations.ts";
import type { StateSettings, LocationState, MonitorState } from "#control-plane/outages/state/state.ts";
import { SILENCED_MS, nextFlappingLook, noDataDueAt } from "#control-plane/outages/state/events.ts";

/** An extra check to schedule. */
export interface Recheck {
  readonly location: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Pause between two checks that confirm something at one location, in milliseconds. */
export const RECHECK_MS = 1_000;

/**
 * Plans the extra checks after an observation. `state` is the state after it; `wasDown`: the last known status before it
 * was down.
 *
 * - An outage or a recovery that the location has not confirmed: the location again, until it has.
 * - The first good check of a location while the monitor is down: the others that have not recovered, at once.
 * - A failure of one of several locations: the others at once, and the location again.
 * - A later planned failure of it: the others that have given no verdict since its first one.
 *
 * A confirmed outage needs none. A failing recheck asks the others only for a further confirmation, because the failure
 * before it has asked them. A passive monitor has no checks to ask for.
 */
export function planRechecks(
  settings: StateSettings,
  { state, wasDown }: { readonly state: MonitorState; readonly wasDown: boolean },
  observation: KnownObservation,
  needed: Confirmation,
  now: number,
): readonly Recheck[] {
  if (settings.isPassive) return [];
  const { location, verdict, isRecheck } = observation;
  const known = state.locations.get(location);
  if (known === undefined || (verdict === "down" && state.status === "down")) return [];
  const again = isConfirmed(settings, state, known, needed) ? [] : [{ location, at: now + RECHECK_MS }];
  if (settings.locations.length === 1) return again;
  if (verdict === "up") {
    const isFirst = wasDown && known.streak === 1 && !isRecheck;
    return isFirst ? [...askUnrecovered(settings, state, location, now), ...again] : again;
  }
  if (again.length === 0) return isRecheck ? [] : askOthers(settings, state, observation, known.since, now);
  return known.streak === 1 && isRecheck ? again : [...askOthers(settings, state, observation, now, now), ...again];
}

/**
 * Plans the extra check after one whose probe failed, so that it gave no verdict: the same again, for as long as its
 * location's newest verdict, or a failure of another location, is being confirmed. A failure that goes on asks once for
 * each planned check, so that a broken location is not checked every second.
 */
export function repeatRecheck(
  settings: StateSettings,
  state: MonitorState,
  location: string,
  needed: Confirmation,
  now: number,
): readonly Recheck[] {
  if (settings.isPassive || !settings.locations.includes(location)) return [];
  const mostFailures = Math.max(KEEPS_FAILING - 1, needed.failures);
  const own = state.locations.get(location);
  const isWanted = Array.from(state.locations).some(([other, known]) => {
    if (!isBeingConfirmed(known, now) || (known.verdict === "down" && state.status === "down")) return false;
    if (other === location) return !isConfirmed(settings, state, known, needed);
    return known.verdict === "down" && known.streak <= mostFailures && canContribute(settings, own, known.since, now);
  });
  return isWanted ? [{ location, at: now + RECHECK_MS }] : [];
}

/** Reports whether a location needs no further check for its newest verdict. One of several confirms a failure once. */
function isConfirmed(
  settings: StateSettings,
  { lastKnown }: MonitorState,
  { verdict, streak }: LocationState,
  { failures, successes }: Confirmation,
): boolean {
  if (verdict === "up") return lastKnown !== "down" || streak >= successes;
  return streak >= Math.max(failures, settings.locations.length === 1 ? 1 : 2);
}

/** Lists the other locations that can contribute and that have not just been checked. */
function askOthers(
  settings: StateSettings,
  { locations }: MonitorState,
  observation: KnownObservation,
  since: number,
  now: number,
): readonly Recheck[] {
  const before = Math.min(since, now - RECHECK_MS + 1);
  return settings.locations
    .filter((location) => location !== observation.location)
    .filter((location) => canContribute(settings, locations.get(location), before, now))
    .map((location) => ({ location, at: now }));
}

/** Lists the other locations that may have recovered too: they failed, or are silent, and have not just been checked. */
function askUnrecovered(
  settings: StateSettings,
  { locations }: MonitorState,
  recovered: string,
  now: number,
): readonly Recheck[] {
  const isWanted = (known: LocationState | undefined): boolean => {
    if (known === undefined || !isFresh(settings, known, now)) return true;
    return known.verdict === "down" && known.at <= now - RECHECK_MS;
  };
  return settings.locations
    .filter((location) => location !== recovered && isWanted(locations.get(location)))
    .map((location) => ({ location, at: now }));
}

/** Reports whether a location can say something new: it does not fail, and gave no verdict at `since` or later. */
function canContribute(settings: StateSettings, known: LocationState | undefined, since: number, now: number): boolean {
  if (known === undefined || !isFresh(settings, known, now)) return true;
  return known.verdict === "up" && known.at < since;
}

/** Age from which a check that confirmed nothing is no longer being confirmed, in milliseconds. */
const UNDECIDED_MS = 60_000;

/** Reports whether a verdict is recent enough that extra checks may still confirm it. */
export function isBeingConfirmed({ at }: Pick<LocationState, "at">, now: number): boolean {
  return Math.abs(now - at) <= UNDECIDED_MS;
}

/**
 * Longest time between two timeout sweeps of a monitor, in milliseconds: with new settings, results can expire earlier.
 */
const MOST_MS = 600_000;

/**
 * Returns when the timeout sweep has to look at a monitor next, because time alone can change it then: a result gets
 * too old to count, or people are to be notified that it has no data or is flapping; of a monitor that no agent checks
 * also that a reminder is due, or that a reason to silence notices has ended. All times are Unix milliseconds. Newer
 * results only move that to a later time, so a sweep can find that nothing has happened.
 */
export function nextTimeoutSweep(settings: StateSettings, state: MonitorState, now: number): number {
  const times = [now + MOST_MS];
  if (settings.isPassive) {
    if (state.remindAt !== null) times.push(state.remindAt);
    if (state.silenced !== null) times.push(now + SILENCED_MS);
  } else if (state.status !== "unknown") {
    for (const { known } of freshLocations(settings, state.locations, now)) times.push(staleAt(settings, known));
  }
  const dueAt = noDataDueAt(state, now);
  if (dueAt !== null) times.push(dueAt);
  const lookAt = nextFlappingLook(state, now);
  if (lookAt !== null) times.push(lookAt);
  return Math.min(...times);
}
