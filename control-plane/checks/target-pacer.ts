import { createReleasingMap, type ReleasingMap } from "#control-plane/releasing-map.ts";

/**
 * Maximum number of paced jobs (monitors, batches) at one target at the same time in this process, to protect the
 * target.
 */
const MOST_AT_ONCE = 20;

/** Limits the number of jobs that run at one target at the same time. Other jobs wait in order of arrival. */
export interface Pacer {
  /** Resolves when the job can begin, to a function to call at its end; or to null if the signal is aborted first. */
  begin(target: string, signal?: AbortSignal): Promise<(() => void) | null>;
}

interface Lane {
  running: number;
  /** Functions that begin a job, by the number of its arrival. */
  readonly waiting: ReleasingMap<number, () => void>;
}

/** Creates a pacer. Targets without a job take no memory. */
export function createPacer(most = MOST_AT_ONCE): Pacer {
  const lanes = createReleasingMap<string, Lane>();
  let arrivals = 0;

  function leave(target: string, lane: Lane): void {
    const [next] = lane.waiting.values();
    if (next !== undefined) return next();
    lane.running -= 1;
    if (lane.running === 0) lanes.delete(target);
  }

  return {
    begin(target, signal) {
      if (signal?.aborted === true) return Promise.resolve(null);
      const lane = lanes.get(target) ?? { running: 0, waiting: createReleasingMap() };
      lanes.set(target, lane);
      let left = false;
      const done = () => {
        if (!left) leave(target, lane);
        left = true;
      };
      if (lane.running < most) {
        lane.running += 1;
        return Promise.resolve(done);
      }
      return new Promise((resolve) => {
        arrivals += 1;
        const arrival = arrivals;
        const turn = () => {
          lane.waiting.delete(arrival);
          signal?.removeEventListener("abort", stop);
          resolve(done);
        };
        const stop = () => {
          lane.waiting.delete(arrival);
          resolve(null);
        };
        lane.waiting.set(arrival, turn);
        signal?.addEventListener("abort", stop, { once: true });
      });
    },
  };
}
