/** Lets a bounded number of works run at once. Others wait, in a queue for each group, and the groups take turns. */
interface FairQueue {
  /**
   * Waits for a turn. Returns the function that ends it, to be called once; null: too many of the group wait, or its client
   * has gone. `isGone` is asked when the turn comes, and when places are short.
   */
  wait(group: string, isGone: () => boolean): Promise<(() => void) | null>;
}

interface Waiter {
  readonly isGone: () => boolean;
  readonly start: (end: (() => void) | null) => void;
}

/**
 * Creates turns. `mostOfGroup`: works of a group that can wait. `mostWaiting`: works that can wait in all; beyond it a group
 * that has fewer takes the place of the newest one of the group that has most.
 */
export function createFairQueue({
  atOnce,
  mostOfGroup,
  mostWaiting,
}: {
  readonly atOnce: number;
  readonly mostOfGroup: number;
  readonly mostWaiting: number;
}): FairQueue {
  /** The groups with works that wait, in the order of their turns. */
  const queues = new Map<string, Waiter[]>();
  let running = 0;
  let waiting = 0;

  function end(): void {
    for (const [group, queue] of queues) {
      const waiter = queue.shift();
      queues.delete(group);
      if (queue.length > 0) queues.set(group, queue);
      if (waiter === undefined) continue;
      waiting -= 1;
      if (waiter.isGone()) {
        waiter.start(null);
        continue;
      }
      waiter.start(end);
      return;
    }
    running -= 1;
  }

  /** Ends the waiting of works whose clients have gone. */
  function dropGone(): void {
    for (const [group, queue] of queues) {
      const here = queue.filter((waiter) => !waiter.isGone());
      const gone = queue.filter((waiter) => !here.includes(waiter));
      waiting -= gone.length;
      queue.splice(0, queue.length, ...here);
      if (here.length === 0) queues.delete(group);
      for (const waiter of gone) waiter.start(null);
    }
  }

  /** Reports whether a group can have one more place, which can be that of another group. */
  function takePlace(group: string): boolean {
    const lengthOf = () => queues.get(group)?.length ?? 0;
    if (lengthOf() >= mostOfGroup || waiting >= mostWaiting) dropGone();
    if (lengthOf() >= mostOfGroup) return false;
    if (waiting < mostWaiting) return true;
    const longest = [...queues.values()].reduce((most, queue) => (queue.length > most.length ? queue : most), []);
    if (longest.length <= lengthOf() + 1) return false;
    waiting -= 1;
    longest.pop()?.start(null);
    return true;
  }

  return {
    async wait(group, isGone) {
      if (running < atOnce) {
        running += 1;
        return end;
      }
      if (!takePlace(group)) return null;
      waiting += 1;
      return new Promise((start) => {
        const waiter = { isGone, start };
        const queue = queues.get(group);
        if (queue === undefined) queues.set(group, [waiter]);
        else queue.push(waiter);
      });
    },
  };
}
