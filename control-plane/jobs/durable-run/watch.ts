import type { Notifications } from "#control-plane/database/notifications.ts";
import { createPump } from "#control-plane/database/pump.ts";
import type { RunStatus } from "#control-plane/jobs/durable-run/status.ts";

/** What every replica can see of a run. */
export interface RunState {
  readonly id: string;
  readonly status: RunStatus;
  /** Number of the newest claim; 0: none yet. */
  readonly run: number;
}

/** Receives the state of a run; null: it is gone. */
type StateListener<S extends RunState> = (state: S | null) => void;

/** Tells streams and runs of this replica what any replica does to the runs they watch. */
export interface RunWatch<S extends RunState> {
  /** Calls `listener` soon, after each change, and at least once a second; returns how to stop. */
  watch(id: string, listener: StateListener<S>): () => void;
  close(): void;
}

/** What a watch needs. */
interface RunWatchDeps<S extends RunState> {
  /** A notification on it carries the id of a run that has changed. */
  readonly channel: string;
  readonly notifications: Notifications;
  /** The states of these runs, in any order; those that are gone are missing. May reject while the database is away. */
  readonly readStates: (ids: readonly string[]) => Promise<readonly S[]>;
}

/** Every run is read this often, because a notification can be lost, and a transaction pooler carries none. */
const SWEEP_MS = 1_000;

/** Opens a watch. One statement reads all runs that are watched here and may have changed. */
export function createRunWatch<S extends RunState>({
  channel,
  notifications,
  readStates,
}: RunWatchDeps<S>): RunWatch<S> {
  const listeners = new Map<string, Set<StateListener<S>>>();
  const changed = new Set<string>();

  const pump = createPump(async () => {
    const ids = [...changed].filter((id) => listeners.has(id));
    changed.clear();
    if (ids.length === 0) return;
    // The database is away: the next sweep asks again.
    const states = await readStates(ids).catch(() => null);
    if (states === null) return;
    const byId = new Map(states.map((state) => [state.id, state]));
    for (const id of ids) {
      for (const listener of listeners.get(id) ?? []) listener(byId.get(id) ?? null);
    }
  });

  function markChanged(ids: Iterable<string>): void {
    for (const id of ids) changed.add(id);
    if (changed.size > 0) pump.wake();
  }

  const sweep = setInterval(() => markChanged(listeners.keys()), SWEEP_MS);
  notifications.listen(
    channel,
    (id) => {
      if (listeners.has(id)) markChanged([id]);
    },
    () => markChanged(listeners.keys()),
  );

  return {
    watch(id, listener) {
      const listenersOfRun = listeners.get(id) ?? new Set();
      listeners.set(id, listenersOfRun.add(listener));
      markChanged([id]);
      return () => {
        listenersOfRun.delete(listener);
        if (listenersOfRun.size === 0 && listeners.get(id) === listenersOfRun) listeners.delete(id);
      };
    },
    close: () => clearInterval(sweep),
  };
}
