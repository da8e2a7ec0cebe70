import type { DatedLocation, HeldNotice, LocationState, MonitorState } from "#control-plane/outages/state/state.ts";

/**
 * Returns the state with no time after `now`. Times after it were written before the clock was set back: they become
 * `now`, so that a verdict stays fresh for no longer than usual and the order of times is kept. remindAt can lie ahead, and
 * so can the time since which a notice waits undecided: it is sent then.
 */
export function boundTimes(state: MonitorState, now: number): MonitorState {
  if (!hasTimeAfter(state, now)) return state;
  const bound = (time: number): number => Math.min(time, now);
  const boundLocation = (known: LocationState): LocationState => ({
    ...known,
    at: bound(known.at),
    since: bound(known.since),
    ...(known.firstTries && { firstTries: { ...known.firstTries, since: bound(known.firstTries.since) } }),
  });
  const boundDated = (one: DatedLocation): DatedLocation => ({ ...one, at: bound(one.at) });
  return {
    ...state,
    changedAt: state.changedAt === null ? null : bound(state.changedAt),
    knownSince: state.knownSince === null ? null : bound(state.knownSince),
    failedAt: state.failedAt === null ? null : bound(state.failedAt),
    changes: state.changes.map(bound),
    flappingToldAt: state.flappingToldAt === null ? null : bound(state.flappingToldAt),
    held: state.held === null ? null : boundHeld(state.held, bound),
    locations: new Map(Array.from(state.locations, ([location, known]) => [location, boundLocation(known)])),
    blind: state.blind.map(boundDated),
    alone: state.alone === null ? null : boundDated(state.alone),
    unwatched: state.unwatched === null ? null : { ...state.unwatched, since: bound(state.unwatched.since) },
  };
}

function boundHeld(held: HeldNotice, bound: (time: number) => number): HeldNotice {
  return held.reason === "undecided" || held.endedAt === null ? held : { ...held, endedAt: bound(held.endedAt) };
}

/** The other times are never later than one of these. */
function hasTimeAfter(state: MonitorState, now: number): boolean {
  const { changedAt, failedAt, flappingToldAt, held, locations, blind, alone, unwatched } = state;
  const endedAt = held === null || held.reason === "undecided" ? null : held.endedAt;
  const times = [changedAt, failedAt, flappingToldAt, endedAt, unwatched?.since ?? null];
  if (times.some((at) => at !== null && at > now)) return true;
  for (const { at } of locations.values()) if (at > now) return true;
  return (alone?.at ?? now) > now || blind.some(({ at }) => at > now);
}
