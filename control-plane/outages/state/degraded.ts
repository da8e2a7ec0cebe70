import type { StateSettings } from "#control-plane/outages/state/settings.ts";
import type { MonitorState, Status } from "#control-plane/outages/state/state.ts";
import type { KnownObservation } from "#control-plane/outages/state/verdicts.ts";

/** How fast a monitor answers. */
type Speed = Pick<MonitorState, "isDegraded" | "slowStreak">;

/** Slow checks in a row that make a monitor degraded, and quick ones that end it. */
const RUN = 3;

const NO_SPEED: Speed = { isDegraded: false, slowStreak: 0 };

/**
 * Returns the speed after an observation; null: only time has passed. Good planned checks of all locations count, in
 * the order of their arrival. A monitor that is down has no speed; one whose status is unknown keeps that of before. One
 * is degraded too whose first tries fail each time at a location (`isUnsteady`): its users wait for the second.
 */
export function nextSpeed(
  settings: StateSettings,
  before: MonitorState,
  { status, isUnsteady }: { readonly status: Status; readonly isUnsteady: boolean },
  observation: KnownObservation | null,
): Speed {
  const { degradedMs } = settings;
  if (status === "down" || degradedMs === null) return NO_SPEED;
  if (status === "unknown") return before;
  const { slowStreak, isDegraded } = addSpeed(degradedMs, before, observation);
  return { slowStreak, isDegraded: isDegraded || isUnsteady };
}

function addSpeed(degradedMs: number, before: Speed, observation: KnownObservation | null): Speed {
  if (observation === null || observation.verdict !== "up" || observation.isRecheck) return before;
  if (observation.responseMs === null) return before;
  const { slowStreak, isDegraded } = before;
  if (observation.responseMs > degradedMs) {
    const slow = Math.min(Math.max(slowStreak, 0) + 1, RUN);
    return { isDegraded: isDegraded || slow === RUN, slowStreak: slow };
  }
  const quick = Math.min(Math.max(-slowStreak, 0) + 1, RUN);
  return { isDegraded: isDegraded && quick < RUN, slowStreak: -quick };
}

/**
 * Reports whether a monitor that was degraded no longer is. A monitor that was down since it was reported as degraded is
 * no longer degraded once it is quick again, or no answer is too slow any more.
 */
export function hasEndedDegraded(
  { degradedMs }: StateSettings,
  before: Pick<MonitorState, "isDegraded" | "isDegradedReported">,
  status: Status,
  { isDegraded, slowStreak }: Speed,
): boolean {
  if (status !== "up" || isDegraded) return false;
  return before.isDegraded || (before.isDegradedReported && (degradedMs === null || slowStreak === -RUN));
}
