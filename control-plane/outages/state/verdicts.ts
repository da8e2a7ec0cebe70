import { isFresh } from "#control-plane/outages/state/freshness.ts";
import type { CheckFault, Observation } from "#control-plane/outages/state/observation.ts";
import type { StateSettings } from "#control-plane/outages/state/settings.ts";
import type { FirstTries, LocationState } from "#control-plane/outages/state/state.ts";

/** The newest verdicts by location. */
type Locations = ReadonlyMap<string, LocationState>;

/** An observation that changes what is known about its location. */
export interface KnownObservation extends Observation {
  readonly verdict: "up" | "down";
}

/** Maximum length of a stored message, in UTF-16 units. */
const MAX_MESSAGE = 200;

/**
 * Reports whether an observation changes what is known about its location. It does not if the probe failed, if the
 * location is no longer configured, or if the check began before that of the newest verdict. A newest verdict after
 * `now` was written before the clock was set back: then the order of arrival counts.
 */
export function isNews(
  settings: StateSettings,
  locations: Locations,
  observation: Observation,
  now: number,
): observation is KnownObservation {
  if (observation.verdict === "unknown" || !settings.locations.includes(observation.location)) return false;
  const known = locations.get(observation.location);
  const isLate = known !== undefined && observation.beganAt < known.at && known.at <= now;
  return !isLate;
}

/**
 * Returns the verdicts with a new one. It continues the location's streak if it equals the verdict before it and that
 * one is still fresh: checks before a long silence confirm nothing. `firstTries`: those of the location after it.
 */
export function addVerdict(
  settings: StateSettings,
  locations: Locations,
  { location, verdict, beganAt, fault }: KnownObservation,
  now: number,
  firstTries?: FirstTries,
): Locations {
  const at = Math.min(beganAt, now);
  const known = locations.get(location);
  const continues = known !== undefined && known.verdict === verdict && isFresh(settings, known, now);
  return new Map(locations).set(location, {
    verdict,
    at,
    streak: continues ? known.streak + 1 : 1,
    since: continues ? Math.min(known.since, at) : at,
    fault: verdict === "up" ? null : shorten(fault),
    ...(firstTries === undefined ? {} : { firstTries: { ...firstTries, fault: shorten(firstTries.fault) } }),
  });
}

/** Bounds the size of a state, which is stored again with every observation. */
function shorten(fault: CheckFault | null): CheckFault | null {
  if (fault === null || fault.message.length <= MAX_MESSAGE) return fault;
  return { ...fault, message: fault.message.slice(0, MAX_MESSAGE).toWellFormed() };
}

/**
 * Drops the verdict of a location whose target answered with something that cannot be judged, such as a page without a
 * picture: nothing is known of it from then on. After a failure of the probe the verdict stays while it is fresh.
 */
export function dropUnjudged(locations: Locations, observation: Observation | null): Locations {
  if (observation?.verdict !== "unknown" || observation.fault?.source !== "target") return locations;
  const known = locations.get(observation.location);
  if (known === undefined || known.at > observation.beganAt) return locations;
  return new Map([...locations].filter(([location]) => location !== observation.location));
}

/** Drops the verdicts of all locations but these: of those that are no longer configured, or cannot check. */
export function keepVerdicts(kept: readonly string[], locations: Locations): Locations {
  for (const location of locations.keys()) {
    if (!kept.includes(location)) return new Map([...locations].filter(([one]) => kept.includes(one)));
  }
  return locations;
}
