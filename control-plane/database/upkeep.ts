/** Housekeeping that repeats until it is stopped. */
interface Upkeep {
  /** No further rounds; one under way is not waited for. */
  stop(): void;
}

/** What is repeated. */
interface UpkeepOptions {
  /** Milliseconds between the starts of two rounds. */
  readonly everyMs: number;
  /** One round. Every replica runs it, so it must be safe to run twice at once on one database. */
  readonly round: () => Promise<void>;
  /** Receives what a round rejected with. The next round does its work. */
  readonly onError?: (error: unknown) => void;
}

/** Starts rounds of housekeeping in this process. A round that is due while the last one is under way is left out. */
export function startUpkeep({ everyMs, round, onError = () => {} }: UpkeepOptions): Upkeep {
  let isUnderWay = false;
  const timer = setInterval(() => {
    if (isUnderWay) return;
    isUnderWay = true;
    void round()
      .catch(onError)
      .finally(() => {
        isUnderWay = false;
      });
  }, everyMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

/** Deletes with one short statement after the other until one finds fewer than `limit` rows. */
export async function deleteInSteps(limit: number, deleteUpTo: (limit: number) => Promise<number>): Promise<void> {
  while ((await deleteUpTo(limit)) === limit);
}
