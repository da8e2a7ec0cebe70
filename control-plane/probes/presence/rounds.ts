import type { Clock } from "#shared/clock.ts";

/** Work that is repeated when there is reason to. */
interface Rounds {
  /** Asks for a run soon; one that is under way may have begun too early, so another follows. */
  wake(): void;
  /** No further runs; resolves when the one under way has ended. */
  stop(): Promise<void>;
}

/** After a run so many times its length pass until the next, so that a slow database is not kept busy by us. */
const REST_FACTOR = 4;

/**
 * Runs `work` at once when woken after a rest, else when the rest is over: at least `restMs` milliseconds between the end
 * of a run and the next, never two at once. `work` must not reject.
 */
export function createRounds(work: () => Promise<void>, restMs: number, clock: Pick<Clock, "monotonic">): Rounds {
  let wanted = false;
  let stopped = false;
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;

  async function run(): Promise<void> {
    wanted = false;
    const startedAt = clock.monotonic();
    await work();
    const rest = Math.max(restMs, REST_FACTOR * (clock.monotonic() - startedAt));
    timer = setTimeout(() => {
      timer = null;
      if (wanted) start();
    }, rest);
    timer.unref();
  }

  function start(): void {
    if (stopped) return;
    running = run().finally(() => {
      running = null;
    });
  }

  return {
    wake() {
      wanted = true;
      if (running === null && timer === null) start();
    },
    async stop() {
      stopped = true;
      await running;
      if (timer !== null) clearTimeout(timer);
    },
  };
}
