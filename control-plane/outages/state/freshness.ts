import type { StateSettings } from "#control-plane/outages/state/settings.ts";
import type { LocationState } from "#control-plane/outages/state/state.ts";

/** A location whose newest verdict is recent enough to count. */
export interface FreshLocation {
  readonly location: string;
  readonly known: LocationState;
}

/**
 * Reports whether a verdict still counts: its check began within the last two intervals and a timeout. The newest
 * verdict of a passive monitor always counts, because nobody can ask for another one.
 */
export function isFresh(
  { intervalMs, timeoutMs, isPassive }: Pick<StateSettings, "intervalMs" | "timeoutMs" | "isPassive">,
  { at }: Pick<LocationState, "at">,
  now: number,
): boolean {
  return isPassive || now - at <= 2 * intervalMs + timeoutMs;
}

/** Returns from when on a fresh verdict no longer counts, Unix milliseconds. */
export function staleAt(
  { intervalMs, timeoutMs }: Pick<StateSettings, "intervalMs" | "timeoutMs">,
  { at }: Pick<LocationState, "at">,
): number {
  return at + 2 * intervalMs + timeoutMs + 1;
}

/** Lists the configured locations with a fresh verdict, in the configured order. */
export function freshLocations(
  settings: StateSettings,
  locations: ReadonlyMap<string, LocationState>,
  now: number,
): readonly FreshLocation[] {
  const fresh: FreshLocation[] = [];
  for (const location of settings.locations) {
    const known = locations.get(location);
    if (known !== undefined && isFresh(settings, known, now)) fresh.push({ location, known });
  }
  return fresh;
}
