import type { StateSettings } from "#control-plane/outages/state/settings.ts";

/**
 * Returns the settings of the state machine for a monitor that no probe checks: one verdict, kept under a name in place
 * of a location, which counts at once and never gets old. `repeatMinutes`: pause between reminders; null: none.
 */
export function passiveSettings(location: string, repeatMinutes: number | null): StateSettings {
  return {
    locations: [location],
    unserved: [],
    quorum: "majority",
    retries: 0,
    recovery: 1,
    intervalMs: 0,
    timeoutMs: 0,
    degradedMs: null,
    repeatMs: repeatMinutes === null ? null : repeatMinutes * 60_000,
    isPassive: true,
  };
}
