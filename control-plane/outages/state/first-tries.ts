import type { FailingLocation, StateEvent } from "#control-plane/outages/state/events.ts";
import { isFresh, type FreshLocation } from "#control-plane/outages/state/freshness.ts";
import type { StateSettings } from "#control-plane/outages/state/settings.ts";
import type { FirstTries, LocationState, MonitorState, Status } from "#control-plane/outages/state/state.ts";
import type { KnownObservation } from "#control-plane/outages/state/verdicts.ts";

/** Planned checks in a row that failed and passed on the re-check, after which a location is named. */
const RUN = 3;

/**
 * Counts an observation among the first tries of its location: a planned check that fails is one more, and one that is
 * good ends the count; so do a failure that goes on until the next planned check, a silence and an outage. Re-checks count
 * for nothing.
 */
export function nextFirstTries(
  settings: StateSettings,
  { lastKnown, locations }: Pick<MonitorState, "lastKnown" | "locations">,
  { location, verdict, beganAt, fault, isRecheck }: KnownObservation,
  now: number,
): FirstTries | undefined {
  if (settings.isPassive || lastKnown === "down") return undefined;
  const stored = locations.get(location);
  const known = stored !== undefined && isFresh(settings, stored, now) ? stored : undefined;
  if (isRecheck) return known?.firstTries;
  if (verdict === "up" || known?.verdict === "down") return undefined;
  const { failed = 0, since = Math.min(beganAt, now) } = known?.firstTries ?? {};
  return { failed: failed + 1, since, fault };
}

/** Returns how many first tries in a row failed at a location and passed on the re-check. */
export function countPassed({ verdict, firstTries }: LocationState): number {
  const failed = firstTries?.failed ?? 0;
  return verdict === "up" ? failed : Math.max(0, failed - 1);
}

/** Reports whether an observation is the re-check that passes after a first try that failed. */
export function passesAfterFirstTry(before: MonitorState, after: MonitorState, location: string): boolean {
  const known = after.locations.get(location);
  return known !== undefined && countPassed(known) > countPassed(before.locations.get(location) ?? known);
}

/** The locations whose first tries fail each time, and the event if they have changed; null: no event. */
interface UnsteadyChange {
  readonly unsteady: readonly string[];
  readonly event: StateEvent | null;
}

/**
 * Returns the locations whose first tries fail each time after a transition. An outage names none: what was counted before
 * it says nothing about the time after it.
 */
export function nextUnsteady(
  before: MonitorState,
  { status, knownSince, fresh }: { status: Status; knownSince: number | null; fresh: readonly FreshLocation[] },
  now: number,
): UnsteadyChange {
  if (status === "unknown") return { unsteady: before.unsteady, event: null };
  if (status === "down") return { unsteady: [], event: null };
  const failing = fresh
    .filter(({ known }) => countPassed(known) >= RUN && (knownSince === null || known.at > knownSince))
    .map(({ location, known }): FailingLocation => {
      return { location, fault: known.firstTries?.fault ?? null, since: known.firstTries?.since ?? known.since };
    });
  const unsteady = failing.map(({ location }) => location);
  const isSame = unsteady.length === before.unsteady.length && unsteady.every((one) => before.unsteady.includes(one));
  const isNew = before.unsteady.length === 0;
  return { unsteady, event: isSame ? null : { kind: "first_tries", at: now, failing, isNew } };
}
