import { countPassed } from "#control-plane/outages/state/first-tries.ts";
import type { MonitorState } from "#control-plane/outages/state/state.ts";

/** What people should know about a monitor that is up: locations that fail, alone or at the first try. */
export interface Advisory {
  readonly since: Date;
  readonly locations: readonly string[];
  readonly message: string;
}

type Facts = Pick<MonitorState, "status" | "failing" | "unsteady" | "locations">;

/**
 * Describes what people should know about a monitor that is up: locations that keep failing, or else locations whose first
 * tries fail each time; null if there are none.
 */
export function describeAdvisory(state: Facts): Advisory | null {
  if (state.status !== "up") return null;
  return describeFailing(state) ?? describeFirstTries(state);
}

/** Describes the locations that keep failing while the monitor is up; null if there are none. */
export function describeFailing({ failing, locations }: Pick<Facts, "failing" | "locations">): Advisory | null {
  if (failing.length === 0) return null;
  const known = failing.flatMap((location) => locations.get(location) ?? []);
  const since = Math.min(...known.map((location) => location.since));
  const cause = known.find(({ fault }) => fault !== null)?.fault?.message ?? "the check fails";
  return {
    since: new Date(since),
    locations: failing,
    message: `The check fails in ${failing.join(", ")} only: ${cause}`,
  };
}

/** Describes the locations whose first tries fail each time; null if there are none. */
export function describeFirstTries({ unsteady, locations }: Pick<Facts, "unsteady" | "locations">): Advisory | null {
  const known = unsteady.flatMap((location) => locations.get(location) ?? []);
  if (known.length === 0) return null;
  const tries = known.flatMap(({ firstTries }) => firstTries ?? []);
  const times = Math.max(...known.map(countPassed));
  const cause = tries.find(({ fault }) => fault !== null)?.fault?.message ?? "the check fails";
  return {
    since: new Date(Math.min(...tries.map(({ since }) => since))),
    locations: unsteady,
    message: `The first try fails each time in ${unsteady.join(", ")}, ${times} times in a row: ${cause}`,
  };
}
