import type { StateSettings } from "#control-plane/outages/state/settings.ts";
import type { MonitorState } from "#control-plane/outages/state/state.ts";

/** How many checks in a row a location needs before its verdict is a vote. */
export interface Confirmation {
  readonly failures: number;
  readonly successes: number;
}

/** Failures in a row that count while a monitor is flapping. */
const FAILURES_WHILE_FLAPPING = 3;

/** Further checks that must fail at a location whose failure alone is a quorum of several. */
const RETRIES_OF_ONE = 1;

/** Least number of further checks that must fail at a location that is the only one left. */
const RETRIES_ALONE = 2;

/**
 * Returns the confirmation that a monitor needs. Several locations confirm each other, but for a quorum of one, which one
 * of them confirms itself by a further check; a single one confirms itself by its retries, and by two at least if it is
 * the only one left of several. Successes need confirmation only after an
 * outage. While a monitor is flapping, failures need more of it, unless nobody can ask for further observations.
 */
export function confirmationFor(
  { locations, quorum, retries, recovery, isPassive }: StateSettings,
  lastKnown: MonitorState["lastKnown"],
  { isFlapping, isAlone }: { readonly isFlapping: boolean; readonly isAlone: boolean },
): Confirmation {
  const retriesOfSeveral = quorum === 1 ? RETRIES_OF_ONE : 0;
  const ownRetries = isAlone ? Math.max(RETRIES_ALONE, retries) : locations.length === 1 ? retries : retriesOfSeveral;
  const failures = ownRetries + 1;
  return {
    failures: isFlapping && !isPassive ? Math.max(failures, FAILURES_WHILE_FLAPPING) : failures,
    successes: lastKnown === "down" ? recovery : 1,
  };
}
