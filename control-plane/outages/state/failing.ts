import type { FailingLocation, StateEvent } from "#control-plane/outages/state/events.ts";
import type { FreshLocation } from "#control-plane/outages/state/freshness.ts";
import type { StateSettings } from "#control-plane/outages/state/settings.ts";
import type { MonitorState, Status } from "#control-plane/outages/state/state.ts";

/** Failures in a row after which a location keeps failing. */
export const KEEPS_FAILING = 3;

/** The failing locations to name in the state, and the event if they have changed; null: no event. */
interface FailingChange {
  readonly failing: readonly string[];
  readonly event: StateEvent | null;
}

/** Lists the locations whose newest verdict is down. `alone` is that of the state. */
export function failingLocations(
  fresh: readonly FreshLocation[],
  alone: MonitorState["alone"] = null,
): readonly FailingLocation[] {
  return fresh
    .filter(({ known }) => known.verdict === "down")
    .map(({ location, known: { fault, since } }) => {
      const failing = { location, fault, since };
      return alone?.location === location ? { ...failing, isAlone: true } : failing;
    });
}

/** What the failing locations of a transition depend on. */
interface Found {
  /** The status after it, which can be that before. */
  readonly status: Status;
  /** See MonitorState. */
  readonly knownSince: MonitorState["knownSince"];
  readonly fresh: readonly FreshLocation[];
  /** The only one of several locations that can check; null: it is not so. */
  readonly alone: MonitorState["alone"];
  /** Locations that were named before and can no longer check. */
  readonly lost: readonly string[];
}

/**
 * Lists the locations of a monitor that is up which keep failing. A single location only confirms its own failure, and one
 * that has not been checked since the end of an outage says nothing about the time after it.
 */
function failingAlone(settings: StateSettings, { knownSince, fresh, alone }: Found): readonly FailingLocation[] {
  if (settings.locations.length === 1 || alone !== null) return [];
  const hasBeenAsked = ({ known }: FreshLocation): boolean => knownSince === null || known.at > knownSince;
  return failingLocations(fresh.filter((one) => one.known.streak >= KEEPS_FAILING && hasBeenAsked(one)));
}

/**
 * Returns the failing locations after a transition. An outage goes on naming those that can no longer check, because they
 * have not recovered.
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
  const failing = failingAlone(settings, found);
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
