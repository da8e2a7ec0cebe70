import type { StateSettings } from "#control-plane/monitors/state/settings.ts";
import type { MonitorState, Status } from "#control-plane/monitors/state/state.ts";
import type { KnownObservation } from "#control-plane/monitors/state/verdicts.ts";

/** How fast a monitor answers. */
type Speed = Pick<MonitorState, "isDegraded" | "slowStreak">;

/** Slow checks in a row that make a monitor degraded, and quick ones that end it. */
const RUN = 3;

const NO_SPEED: Speed = { isDegraded: false, slowStreak: 0 };

/**
 * Returns the speed after an observation; null: only time has passed. Good planned checks of all locations count, in
 * the order of their arrival. A monitor that is not up has no speed.
 */
export function nextSpeed(
  { degradedMs }: StateSettings,
  before: MonitorState,
  status: Status,
  observation: KnownObservation | null,
): Speed {
  if (status !== "up" || degradedMs === null) return NO_SPEED;
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
