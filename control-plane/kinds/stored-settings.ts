import { DEFAULT_SETTINGS } from "#control-plane/kinds/defaults.ts";
import type { MonitorSettings } from "#control-plane/kinds/monitor.ts";

/**
 * Parses the settings of a stored monitor. Options that were added after the row was written have their defaults. The
 * one place that reads this column: elsewhere an option of later would be undefined.
 */
export function readStoredSettings(text: string): MonitorSettings {
  return { ...DEFAULT_SETTINGS, ...(JSON.parse(text) as Partial<MonitorSettings>) };
}
