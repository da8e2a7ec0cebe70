import type { Clock } from "#shared/time/clock.ts";

/** Work that runs again each time it is requested. */
interface Rounds {
  /** Requests a run soon. If one is running, another follows, because the running one can have begun too early. */
  wake(): void;
  /** Starts no further runs. Resolves when the running one has ended. */
  stop(): Promise<void>;
}

/**
 * The pause after a run is this many times its duration, within its bounds, so that the runs do not keep a slow database
 * busy.
 */
const REST_FACTOR = 4;

/** Bounds of the pause after a run, in milliseconds. */
interface Rest {
  readonly leastMs: number;
  readonly mostMs: number;
}

/**
 * Creates rounds of `work`. A requested run starts immediately, or after the pause that follows a run. Two runs never
 * overlap. `work` must not reject.
 */
export function createRounds(work: () => Promise<void>, rest: Rest, clock: Pick<Clock, "monotonic">): Rounds {
  let wanted = false;
  let stopped = false;
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;

  async function run(): Promise<void> {
    wanted = false;
    const startedAt = clock.monotonic();
    await work();
    const wished = REST_FACTOR * (clock.monotonic() - startedAt);
    timer = setTimeout(
      () => {
        timer = null;
        if (wanted) start();
      },
      Math.min(Math.max(rest.leastMs, wished), rest.mostMs),
    );
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
