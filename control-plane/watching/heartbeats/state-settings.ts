import type { MonitorSettings } from "#control-plane/outages/kinds/monitor.ts";
import { passiveSettings, type StateSettings } from "#control-plane/outages/state/state.ts";

/** The name under which the state of a heartbeat keeps its verdict: it has no locations. */
export const HEARTBEAT_LOCATION = "heartbeat";

/** Returns the settings of the state machine for a heartbeat: one verdict, which counts at once and never gets old. */
export function heartbeatStateSettings({ repeat_minutes }: MonitorSettings): StateSettings {
  return passiveSettings(HEARTBEAT_LOCATION, repeat_minutes);
}
