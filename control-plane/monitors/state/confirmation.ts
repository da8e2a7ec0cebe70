import type { StateSettings } from "#control-plane/monitors/state/settings.ts";
import type { MonitorState } from "#control-plane/monitors/state/state.ts";

/** How many checks in a row a location needs before its verdict is a vote. */
export interface Confirmation {
  readonly failures: number;
  readonly successes: number;
}

/** Failures in a row that count while a monitor is flapping. */
const FAILURES_WHILE_FLAPPING = 3;

/**
 * Returns the confirmation that a monitor needs. Several locations confirm each other; a single one confirms itself by
 * its retries. Successes need confirmation only after an outage. While a monitor is flapping, failures need more of it,
 * unless nobody can ask for further observations.
 */
export function confirmationFor(
  { locations, retries, recovery, isPassive }: StateSettings,
  lastKnown: MonitorState["lastKnown"],
  isFlapping: boolean,
): Confirmation {
  const failures = locations.length === 1 ? retries + 1 : 1;
  return {
    failures: isFlapping && !isPassive ? Math.max(failures, FAILURES_WHILE_FLAPPING) : failures,
    successes: lastKnown === "down" ? recovery : 1,
  };
}
