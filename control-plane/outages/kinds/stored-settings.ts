import { parseExact } from "#shared/json/exact.ts";
import { DEFAULT_SETTINGS } from "#control-plane/outages/kinds/defaults.ts";
import { kindOf, OPTION_NAMES } from "#control-plane/outages/kinds/kinds.ts";
import type { MonitorSettings } from "#control-plane/outages/kinds/monitor.ts";

/** Defaults of the options that one kind alone has, without those that depend on the interval. */
const OPTION_DEFAULTS = OPTION_NAMES.map((name) => [name, kindOf(name).options?.defaults(1) as object] as const);

/**
 * Parses the settings of a stored monitor. Options that were added after the row was written have their defaults, also
 * within the object of a kind. The one place that reads this column: elsewhere an option of later would be undefined.
 */
export function readStoredSettings(text: string): MonitorSettings {
  const stored = parseExact(text, "value") as Partial<MonitorSettings>;
  const settings: Record<string, unknown> = { ...DEFAULT_SETTINGS, ...stored };
  for (const [name, defaults] of OPTION_DEFAULTS) {
    if (stored[name] != null) settings[name] = { ...defaults, ...stored[name] };
  }
  return settings as unknown as MonitorSettings;
}
