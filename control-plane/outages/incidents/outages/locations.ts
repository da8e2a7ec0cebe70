import { toPlainLine } from "#shared/text/plain-line.ts";
import type { AffectedLocation, FailingLocation, Fault } from "#control-plane/outages/incidents/incident.ts";

/** Maximum number of locations of an incident; locations that failed first are kept. */
const MOST_LOCATIONS = 100;
/** Maximum lengths of text in an affected location. */
const MOST_LOCATION = 200;
const MOST_REASON = 100;
const MOST_MESSAGE = 500;

/** Locations of an outage after a change, and what the change was. */
interface ChangedLocations {
  readonly locations: readonly AffectedLocation[];
  /** Locations that fail now and did not before. */
  readonly failed: readonly FailingLocation[];
  /** Names of locations that failed before and do not now. */
  readonly recovered: readonly string[];
}

/** Compares the locations of an outage with those that fail now. A recovered location keeps its last error. */
export function changeLocations(
  known: readonly AffectedLocation[],
  failing: readonly FailingLocation[],
): ChangedLocations {
  const now = new Map(failing.map((one) => [one.location.slice(0, MOST_LOCATION), one]));
  const wasDown = new Set(known.filter(({ status }) => status === "down").map(({ location }) => location));
  const isKnown = new Set(known.map(({ location }) => location));
  const kept = known.map((one): AffectedLocation => {
    const fails = now.get(one.location);
    return fails === undefined ? { ...one, status: "up" } : affected(fails, one.error);
  });
  const added = [...now].filter(([location]) => !isKnown.has(location)).map(([, one]) => affected(one, null));
  return {
    locations: [...kept, ...added].slice(0, MOST_LOCATIONS),
    failed: [...now].filter(([location]) => !wasDown.has(location)).map(([, one]) => one),
    recovered: [...wasDown].filter((location) => !now.has(location)),
  };
}

/** Marks the locations as up that have recovered. */
export function recoverLocations(
  known: readonly AffectedLocation[],
  good: readonly string[],
): readonly AffectedLocation[] {
  const names = new Set(good.map((location) => location.slice(0, MOST_LOCATION)));
  return known.map((one) => (names.has(one.location) ? { ...one, status: "up" } : one));
}

function affected({ location, fault }: FailingLocation, before: Fault | null): AffectedLocation {
  return {
    location: location.slice(0, MOST_LOCATION),
    status: "down",
    error: fault === null ? before : showFault(fault),
  };
}

function showFault({ stage, source, reason, message }: Fault): Fault {
  return {
    stage,
    source,
    reason: toPlainLine(reason, MOST_REASON),
    message: toPlainLine(message, MOST_MESSAGE),
  };
}
