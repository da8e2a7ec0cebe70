import type {
  StateSettings,
  LocationState,
  CheckFault,
  Observation,
  SoftState,
  DatedLocation,
  MonitorState,
  Status,
} from "#control-plane/outages/state/state.ts";
import { isOwnNetworkDown } from "#shared/contracts/outcome.ts";
import type { FailingLocation, StateEvent } from "#control-plane/outages/state/events.ts";

/** A location whose newest verdict is recent enough to count. */
export interface FreshLocation {
  readonly location: string;
  readonly known: LocationState;
}

/**
 * Reports whether a verdict still counts: its check began within the last two intervals and a timeout. The newest
 * verdict of a passive monitor always counts, because nobody can ask for another one.
 */
export function isFresh(
  { intervalMs, timeoutMs, isPassive }: Pick<StateSettings, "intervalMs" | "timeoutMs" | "isPassive">,
  { at }: Pick<LocationState, "at">,
  now: number,
): boolean {
  return isPassive || now - at <= 2 * intervalMs + timeoutMs;
}

/** Returns from when on a fresh verdict no longer counts, Unix milliseconds. */
export function staleAt(
  { intervalMs, timeoutMs }: Pick<StateSettings, "intervalMs" | "timeoutMs">,
  { at }: Pick<LocationState, "at">,
): number {
  return at + 2 * intervalMs + timeoutMs + 1;
}

/** Lists the configured locations with a fresh verdict, in the configured order. */
export function freshLocations(
  settings: StateSettings,
  locations: ReadonlyMap<string, LocationState>,
  now: number,
): readonly FreshLocation[] {
  const fresh: FreshLocation[] = [];
  for (const location of settings.locations) {
    const known = locations.get(location);
    if (known !== undefined && isFresh(settings, known, now)) fresh.push({ location, known });
  }
  return fresh;
}

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
 * one is still fresh: checks before a long silence confirm nothing. `softState`: that of the location after it.
 */
export function addVerdict(
  settings: StateSettings,
  locations: Locations,
  { location, verdict, beganAt, fault }: KnownObservation,
  now: number,
  softState?: SoftState,
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
    ...(softState === undefined ? {} : { softState: { ...softState, fault: shorten(softState.fault) } }),
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

/** What a transition observes: news, or a check that says nothing about the target. */
interface Observed {
  readonly news: KnownObservation | null;
  /** An observation without news; null if there is none. */
  readonly other: Observation | null;
}

/** The eligible ones of several locations: those that can check now. Only they have verdicts. */
interface Eligible {
  readonly locations: readonly string[];
  /** See MonitorState. */
  readonly offline: readonly DatedLocation[];
}

/**
 * Returns the eligible locations: those with a connected agent whose own network works. The location of a monitor with
 * only one is always eligible and keeps its verdict while that is fresh: there is no other to ask.
 */
export function findEligible(settings: StateSettings, before: MonitorState, observed: Observed, now: number): Eligible {
  const { locations, withoutAgent } = settings;
  if (locations.length === 1) return { locations, offline: [] };
  const offline = nextOffline(settings, before, observed, now);
  const isEligible = (location: string): boolean =>
    location === observed.news?.location ||
    (!withoutAgent.includes(location) && !offline.some((one) => one.location === location));
  return { locations: locations.every(isEligible) ? locations : locations.filter(isEligible), offline };
}

/**
 * A location is no longer offline when it has a verdict, and is asked again when its failed check is no longer fresh.
 */
function nextOffline(
  settings: StateSettings,
  { offline, locations }: MonitorState,
  { news, other }: Observed,
  now: number,
): readonly DatedLocation[] {
  const found = other !== null && isOffline(locations.get(other.location), other) ? other : null;
  if (offline.length === 0 && found === null) return offline;
  const kept = offline.filter(
    (one) => one.location !== news?.location && one.location !== found?.location && isFresh(settings, one, now),
  );
  const added = found === null ? [] : [{ location: found.location, at: Math.min(found.beganAt, now) }];
  return [...kept, ...added].filter(({ location }) => settings.locations.includes(location));
}

/** Reports whether a check says that its probe's own network is down, and is newer than the location's verdict. */
function isOffline(known: LocationState | undefined, { verdict, beganAt, fault }: Observation): boolean {
  return verdict === "unknown" && fault !== null && isOwnNetworkDown(fault) && (known?.at ?? beganAt) <= beganAt;
}

/**
 * Returns the sole eligible location of several; null: more are eligible, or none. When others become eligible again,
 * it stays the sole one until one of them has a verdict, or should have had one: the status does not change because a
 * probe reconnects.
 */
export function findSole(
  settings: StateSettings,
  { sole }: Pick<MonitorState, "sole">,
  { locations: eligible }: Eligible,
  locations: ReadonlyMap<string, LocationState>,
  now: number,
): DatedLocation | null {
  if (settings.locations.length === 1) return null;
  const [only, ...others] = eligible;
  if (only !== undefined && others.length === 0) return { location: only, at: now };
  if (sole === null || !eligible.includes(sole.location) || !isFresh(settings, sole, now)) return null;
  const isStillSole = Array.from(locations.keys()).every((location) => location === sole.location);
  return isStillSole ? sole : null;
}

/** Failures in a row after which a location keeps failing. */
export const KEEPS_FAILING = 3;

/** The failing locations to name in the state, and the event if they have changed; null: no event. */
interface FailingChange {
  readonly failing: readonly string[];
  readonly event: StateEvent | null;
}

/** Lists the locations whose newest verdict is down. `sole` is that of the state. */
export function failingLocations(
  fresh: readonly FreshLocation[],
  sole: MonitorState["sole"] = null,
): readonly FailingLocation[] {
  return fresh
    .filter(({ known }) => known.verdict === "down")
    .map(({ location, known: { fault, since } }) => {
      const failing = { location, fault, since };
      return sole?.location === location ? { ...failing, isSole: true } : failing;
    });
}

/** What the failing locations of a transition depend on. */
interface Found {
  /** The status after it, which can be that before. */
  readonly status: Status;
  /** See MonitorState. */
  readonly knownSince: MonitorState["knownSince"];
  readonly fresh: readonly FreshLocation[];
  /** See MonitorState. */
  readonly sole: MonitorState["sole"];
  /** Locations that were named before and are no longer eligible. */
  readonly lost: readonly string[];
}

/**
 * Lists the locations of a monitor that is up which keep failing. A single location only confirms its own failure, and one
 * that has not been checked since the end of an outage says nothing about the time after it.
 */
function keepFailing(settings: StateSettings, { knownSince, fresh, sole }: Found): readonly FailingLocation[] {
  if (settings.locations.length === 1 || sole !== null) return [];
  const hasBeenAsked = ({ known }: FreshLocation): boolean => knownSince === null || known.at > knownSince;
  return failingLocations(fresh.filter((one) => one.known.streak >= KEEPS_FAILING && hasBeenAsked(one)));
}

/**
 * Returns the failing locations after a transition. An outage keeps naming those that are no longer eligible, because
 * they have not recovered.
 */
export function nextFailing(settings: StateSettings, before: MonitorState, found: Found, now: number): FailingChange {
  const { status, fresh, lost } = found;
  if (status === "unknown") return { failing: before.failing, event: null };
  if (status === "down") {
    const failing = failingLocations(fresh);
    // The event of a new outage names them itself.
    if (before.status !== "down") return { failing: names(failing), event: null };
    const named = before.failing.filter((location) => !lost.includes(location));
    return {
      failing: [...names(failing), ...lost],
      event: isSame(named, failing) ? null : { kind: "failing", at: now, failing },
    };
  }
  const failing = keepFailing(settings, found);
  const named = before.lastKnown === "down" ? [] : before.failing;
  const isNew = named.length === 0;
  return {
    failing: names(failing),
    event: isSame(named, failing) ? null : { kind: "advisory", at: now, failing, isNew },
  };
}

function names(failing: readonly FailingLocation[]): readonly string[] {
  return failing.map(({ location }) => location);
}

function isSame(named: readonly string[], failing: readonly FailingLocation[]): boolean {
  return named.length === failing.length && failing.every(({ location }) => named.includes(location));
}
