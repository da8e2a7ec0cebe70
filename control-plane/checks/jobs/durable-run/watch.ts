import type { Notifications } from "#control-plane/core/database/notifications.ts";
import { createPump } from "#control-plane/core/database/pump.ts";
import type { RunStatus } from "#control-plane/checks/jobs/durable-run/status.ts";

/** State of a run as every replica can read it. */
export interface RunState {
  readonly id: string;
  readonly status: RunStatus;
  /** Number of the newest claim; 0 before the first. */
  readonly run: number;
}

/** Receives the state of a run, or null if it is deleted. */
type StateListener<S extends RunState> = (state: S | null) => void;

/** Informs streams and attempts of this replica about changes that any replica makes to the runs they watch. */
export interface RunWatch<S extends RunState> {
  /** Calls `listener` soon, after each change and at least once a second. Returns a function that stops this. */
  watch(id: string, listener: StateListener<S>): () => void;
  close(): void;
}

/**
 * Every run is read at this interval in milliseconds: a notification can be lost, and a transaction pooler carries
 * none.
 */
const SWEEP_MS = 1_000;

/**
 * Opens a watch. One statement reads all runs that this replica watches and that can have changed. `channel` is the
 * notification channel on which the ids of changed runs are sent. `readStates` reads the states of these runs, in any
 * order; deleted runs are missing. It can reject while the database is away.
 */
export function createRunWatch<S extends RunState>({
  channel,
  notifications,
  readStates,
}: {
  readonly channel: string;
  readonly notifications: Notifications;
  readonly readStates: (ids: readonly string[]) => Promise<readonly S[]>;
}): RunWatch<S> {
  const listeners = new Map<string, Set<StateListener<S>>>();
  const changed = new Set<string>();

  const pump = createPump(async () => {
    const ids = [...changed].filter((id) => listeners.has(id));
    changed.clear();
    if (ids.length === 0) return;
    // If the database is away, the next sweep reads again.
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
