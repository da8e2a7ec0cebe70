import type { Queryable } from "#control-plane/core/database/connect.ts";
import { readStoredSettings } from "#control-plane/outages/kinds/stored-settings.ts";
import { decodeState } from "#control-plane/outages/state/encoding.ts";
import { isFresh } from "#control-plane/outages/state/freshness.ts";
import { NEW_STATE, type MonitorState } from "#control-plane/outages/state/state.ts";
import { readUnknown } from "#control-plane/watching/checking/survey/store.ts";

/** An active monitor that is unknown because fewer than two of its locations have recent results. */
export interface SilentMonitor {
  readonly id: number;
  readonly accountId: number;
  /** The locations without a recent result. */
  readonly missing: readonly string[];
}

const MOST_MONITORS = 2_000;
/** Fewer locations with recent results are no evidence (state/votes.ts). */
const MIN_FRESH = 2;

/** Reads the monitors with several locations that are unknown for lack of results. New ones do not count yet. */
export async function readSilent(sql: Queryable, now: Date): Promise<readonly SilentMonitor[]> {
  const rows = await readUnknown(sql, MOST_MONITORS);
  return rows.flatMap(({ id, accountId, locations, settings: text, state: stateText, intervalSeconds, updatedAt }) => {
    const { timeout_seconds } = readStoredSettings(text);
    const state = readState(stateText);
    const times = { intervalMs: intervalSeconds * 1_000, timeoutMs: timeout_seconds * 1_000, isPassive: false };
    const missing = locations.filter((location) => {
      const known = state.locations.get(location);
      return known === undefined || !isFresh(times, known, now.getTime());
    });
    const isNew = state.changedAt === null && isFresh(times, { at: updatedAt.getTime() }, now.getTime());
    return isNew || locations.length - missing.length >= MIN_FRESH ? [] : [{ id, accountId, missing }];
  });
}

/** A broken state holds no results, and must not fail the survey of all monitors. */
function readState(text: string): MonitorState {
  try {
    return decodeState(text);
  } catch {
    return NEW_STATE;
  }
}
