/** Housekeeping that repeats until it is stopped. */
interface Upkeep {
  /** Starts no further rounds. Does not wait for a running round. */
  stop(): void;
}

/** Options of repeated housekeeping. */
interface UpkeepOptions {
  /** Milliseconds between the starts of two rounds. */
  readonly everyMs: number;
  /** Runs one round. Every replica runs it, so two rounds must be able to run at the same time on one database. */
  readonly round: () => Promise<void>;
  /** Receives the error of a failed round. The next round does its work. */
  readonly onError?: (error: unknown) => void;
}

/** Starts rounds of housekeeping in this process. A round is skipped if the previous one is still running. */
export function startUpkeep({ everyMs, round, onError = () => {} }: UpkeepOptions): Upkeep {
  let isRunning = false;
  const timer = setInterval(() => {
    if (isRunning) return;
    isRunning = true;
    void round()
      .catch(onError)
      .finally(() => {
        isRunning = false;
      });
  }, everyMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

/** Deletes rows with one short statement after the other, until one deletes fewer than `limit` rows. */
export async function deleteInSteps(limit: number, deleteUpTo: (limit: number) => Promise<number>): Promise<void> {
  while ((await deleteUpTo(limit)) === limit);
}
