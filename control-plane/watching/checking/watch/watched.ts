import type { LocationItem } from "#shared/internet/locations.ts";
import type { MonitorSettings } from "#control-plane/outages/kinds/monitor.ts";
import type { ProbedType } from "#control-plane/outages/kinds/kinds.ts";
import { readStoredSettings } from "#control-plane/outages/kinds/stored-settings.ts";
import type { StateSettings } from "#control-plane/outages/state/state.ts";
import type { ClaimedEntry } from "#control-plane/watching/checking/schedule/store.ts";
import { readLocation } from "#control-plane/watching/checking/watch/served.ts";

/** The parts of a monitor that its checks need, parsed. */
export interface WatchedMonitor {
  readonly url: string;
  readonly checkType: ProbedType;
  readonly settings: MonitorSettings;
}

/** Parses what claims return, and keeps it while the monitors do not change. */
export interface WatchedMonitors {
  of(entry: ClaimedEntry): WatchedMonitor;
  /** Returns the items of a location; null if it cannot be read. */
  location(text: string): readonly LocationItem[] | null;
}

/** Maximum number of monitors kept. One takes about 1 KB. */
const MOST_KEPT = 100_000;
const MOST_LOCATIONS = 10_000;

/** Creates an empty cache. */
export function createWatchedMonitors(): WatchedMonitors {
  const monitors = new Map<number, WatchedMonitor & { readonly version: number }>();
  const locations = new Map<string, readonly LocationItem[] | null>();
  return {
    of({ monitorId, url, checkType, settings, version }) {
      const kept = monitors.get(monitorId);
      if (kept?.version === version) return kept;
      if (monitors.size >= MOST_KEPT) monitors.clear();
      const parsed = { url, checkType, version, settings: readStoredSettings(settings) };
      monitors.set(monitorId, parsed);
      return parsed;
    },
    location(text) {
      let items = locations.get(text);
      if (items === undefined) {
        if (locations.size >= MOST_LOCATIONS) locations.clear();
        items = readLocation(text);
        locations.set(text, items);
      }
      return items;
    },
  };
}

/**
 * Returns the settings of the state machine. `withoutAgent`: the locations without a connected probe. A plan can allow
 * fewer locations than the monitor has: only those that it is checked from count, because the others never have
 * results.
 */
export function stateSettings(
  { settings }: WatchedMonitor,
  { intervalSeconds, plannedLocations }: Pick<ClaimedEntry, "intervalSeconds" | "plannedLocations">,
  withoutAgent: readonly string[],
): StateSettings {
  const { locations, quorum, retries, recovery, timeout_seconds, degraded_ms, repeat_minutes } = settings;
  return {
    locations: locations.filter((location) => plannedLocations.includes(location)),
    withoutAgent,
    quorum,
    retries,
    recovery,
    intervalMs: intervalSeconds * 1_000,
    timeoutMs: timeout_seconds * 1_000,
    degradedMs: degraded_ms,
    repeatMs: repeat_minutes === null ? null : repeat_minutes * 60_000,
    isPassive: false,
  };
}
