import type { Sql } from "#control-plane/database/connect.ts";
import type { Notifications } from "#control-plane/database/notifications.ts";
import { createPump } from "#control-plane/database/pump.ts";
import { readStates, type MeasurementState } from "#control-plane/measurements/stream/store.ts";
import { MEASUREMENT_CHANNEL } from "#control-plane/measurements/store.ts";

/** What is told of a measurement; null: it is gone. */
export type StateListener = (state: MeasurementState | null) => void;

/** Tells streams and runs of this replica what any replica does to their measurements. */
export interface Watch {
  /** Calls `listener` soon, whenever something changed, and at least once a second; returns how to stop. */
  watch(id: string, listener: StateListener): () => void;
  close(): void;
}

/** A notification that was lost, or cannot be had behind a transaction pooler, is made up for so soon. */
const SWEEP_MS = 1_000;

/** One statement for all that is watched here and may have changed. */
export function createWatch(sql: Sql, notifications: Notifications): Watch {
  const listeners = new Map<string, Set<StateListener>>();
  const changed = new Set<string>();

  const pump = createPump(async () => {
    const ids = [...changed].filter((id) => listeners.has(id));
    changed.clear();
    if (ids.length === 0) return;
    // The database is away: the next sweep asks again.
    const states = await readStates(sql, ids).catch(() => null);
    if (states === null) return;
    const byId = new Map(states.map((state) => [state.id, state]));
    for (const id of ids) {
      for (const listener of listeners.get(id) ?? []) listener(byId.get(id) ?? null);
    }
  });

  function look(ids: Iterable<string>): void {
    for (const id of ids) changed.add(id);
    if (changed.size > 0) pump.wake();
  }

  const sweep = setInterval(() => look(listeners.keys()), SWEEP_MS);
  notifications.listen(
    MEASUREMENT_CHANNEL,
    (id) => {
      if (listeners.has(id)) look([id]);
    },
    () => look(listeners.keys()),
  );

  return {
    watch(id, listener) {
      const mine = listeners.get(id) ?? new Set();
      listeners.set(id, mine.add(listener));
      look([id]);
      return () => {
        mine.delete(listener);
        if (mine.size === 0 && listeners.get(id) === mine) listeners.delete(id);
      };
    },
    close: () => clearInterval(sweep),
  };
}
