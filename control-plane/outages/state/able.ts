import { isOwnNetworkDown } from "#shared/contracts/outcome.ts";
import { isFresh } from "#control-plane/outages/state/freshness.ts";
import type { Observation } from "#control-plane/outages/state/observation.ts";
import type { StateSettings } from "#control-plane/outages/state/settings.ts";
import type { DatedLocation, LocationState, MonitorState } from "#control-plane/outages/state/state.ts";
import type { KnownObservation } from "#control-plane/outages/state/verdicts.ts";

/** What a transition observes: news, or a check that says nothing about the target. */
interface Observed {
  readonly news: KnownObservation | null;
  /** An observation without news; null: there is none. */
  readonly other: Observation | null;
}

/** Which of several locations can check now. Only they have verdicts. */
interface Able {
  readonly locations: readonly string[];
  /** See MonitorState. */
  readonly blind: readonly DatedLocation[];
}

/**
 * Returns the locations that can check: those with a connected probe whose own network works. A monitor with one location
 * keeps that, and its verdict, until it is no longer fresh: there is no other to ask.
 */
export function findAble(settings: StateSettings, before: MonitorState, observed: Observed, now: number): Able {
  const { locations, unserved } = settings;
  if (locations.length === 1) return { locations, blind: [] };
  const blind = nextBlind(settings, before, observed, now);
  const isAble = (location: string): boolean =>
    location === observed.news?.location ||
    (!unserved.includes(location) && !blind.some((one) => one.location === location));
  return { locations: locations.every(isAble) ? locations : locations.filter(isAble), blind };
}

/** A location sees again when it has a verdict, and is asked again when its failed check is no longer recent. */
function nextBlind(
  settings: StateSettings,
  { blind, locations }: MonitorState,
  { news, other }: Observed,
  now: number,
): readonly DatedLocation[] {
  const found = other !== null && isBlinded(locations.get(other.location), other) ? other : null;
  if (blind.length === 0 && found === null) return blind;
  const kept = blind.filter(
    (one) => one.location !== news?.location && one.location !== found?.location && isFresh(settings, one, now),
  );
  const added = found === null ? [] : [{ location: found.location, at: Math.min(found.beganAt, now) }];
  return [...kept, ...added].filter(({ location }) => settings.locations.includes(location));
}

/** Reports whether a check says that its probe's network is down, and is newer than what is known of the location. */
function isBlinded(known: LocationState | undefined, { verdict, beganAt, fault }: Observation): boolean {
  return verdict === "unknown" && fault !== null && isOwnNetworkDown(fault) && (known?.at ?? beganAt) <= beganAt;
}

/**
 * Returns the only one of several locations that can check; null: there are more, or none. After others have come back it
 * stays the only one until one of them has a verdict, or should have had one: the status does not change because a probe
 * returns.
 */
export function findAlone(
  settings: StateSettings,
  { alone }: Pick<MonitorState, "alone">,
  { locations: able }: Able,
  locations: ReadonlyMap<string, LocationState>,
  now: number,
): DatedLocation | null {
  if (settings.locations.length === 1) return null;
  const [only, ...others] = able;
  if (only !== undefined && others.length === 0) return { location: only, at: now };
  if (alone === null || !able.includes(alone.location) || !isFresh(settings, alone, now)) return null;
  const isStillAlone = Array.from(locations.keys()).every((location) => location === alone.location);
  return isStillAlone ? alone : null;
}
