import type { LocationState } from "#control-plane/outages/state/state.ts";

/** Age from which a check that confirmed nothing is no longer being confirmed, in milliseconds. */
const UNDECIDED_MS = 60_000;

/** Reports whether a verdict is recent enough that extra checks may still confirm it. */
export function isBeingConfirmed({ at }: Pick<LocationState, "at">, now: number): boolean {
  return Math.abs(now - at) <= UNDECIDED_MS;
}
