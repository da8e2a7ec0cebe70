import { createReleasingMap, type ReleasingMap } from "#control-plane/core/releasing-map.ts";

/** Shortest wait of a postponed job, milliseconds. */
const SOONEST_MS = 250;
/** Longest wait, milliseconds: a target that is quick again is used again that soon, however many jobs were postponed. */
const LATEST_MS = 15_000;

/**
 * Returns the time at which a postponed job tries again: `spacingMs` after the one that was postponed before it, whose
 * time was `last`. Times are monotonic milliseconds. Times beyond the longest wait begin again at half of it, so that
 * jobs which do not fit come back evenly over that half.
 */
export function spreadRetry(last: number, now: number, spacingMs: number): number {
  const next = Math.max(last, now + SOONEST_MS) + spacingMs;
  return next > now + LATEST_MS ? now + LATEST_MS / 2 : next;
}

/**
 * Maximum number of paced jobs (monitors, batches) at one target at the same time in this process, to protect the
 * target.
 */
const MOST_AT_ONCE = 20;
/** Assumed duration of a job before one has ended, milliseconds. */
const FIRST_DURATION_MS = 200;
/** Weight of the newest job in the mean duration. */
const NEWEST_WEIGHT = 0.1;

/** Result of an attempt to begin a job. */
type Turn =
  | { readonly kind: "begun"; readonly done: () => void }
  /** There is no room. The caller tries again after this time, milliseconds. */
  | { readonly kind: "postponed"; readonly retryAfterMs: number };

/**
 * Limits the number of jobs that run at one target at the same time. Jobs that wait here do so in order of arrival. Jobs
 * that are postponed hold nothing while they wait, so their number has no limit. If there are jobs of both kinds, each
 * kind gets half of the room.
 */
export interface Pacer {
  /** Resolves when the job can begin, to a function to call at its end; or to null if the signal is aborted first. */
  begin(target: string, signal?: AbortSignal): Promise<(() => void) | null>;
  /** Begins the job if there is room. */
  tryBegin(target: string): Turn;
}

/** The jobs of one target. */
interface Lane {
  /** Running jobs that began by `begin`, and those by `tryBegin`. */
  waited: number;
  tried: number;
  /** Functions that begin a job, by the number of its arrival. */
  readonly waiting: ReleasingMap<number, () => void>;
  /** Mean duration of the newest jobs, milliseconds. */
  meanMs: number;
  /** When the last one of the postponed jobs tries again, monotonic milliseconds. */
  retryAt: number;
}

/** Creates a pacer. Targets without a running job take no memory. */
export function createPacer(clock: { monotonic(): number }, most = MOST_AT_ONCE): Pacer {
  const lanes = createReleasingMap<string, Lane>();
  const half = Math.max(1, Math.floor(most / 2));
  let arrivals = 0;

  const hasRoom = ({ waited, tried }: Lane): boolean => waited + tried < most;
  const canWaited = (lane: Lane): boolean => hasRoom(lane) && (lane.waited < half || lane.retryAt <= clock.monotonic());
  const canTried = (lane: Lane): boolean => hasRoom(lane) && (lane.tried < half || lane.waiting.size === 0);

  function laneOf(target: string): Lane {
    const known = lanes.get(target);
    if (known !== undefined) return known;
    const lane = { waited: 0, tried: 0, waiting: createReleasingMap<number, () => void>(), meanMs: FIRST_DURATION_MS };
    const added = { ...lane, retryAt: 0 };
    lanes.set(target, added);
    return added;
  }

  /** Counts a job as running. Returns the function that ends it, once. */
  function enter(target: string, lane: Lane, kind: "waited" | "tried"): () => void {
    const beganAt = clock.monotonic();
    lane[kind] += 1;
    let isDone = false;
    return () => {
      if (isDone) return;
      isDone = true;
      lane[kind] -= 1;
      lane.meanMs += NEWEST_WEIGHT * (clock.monotonic() - beganAt - lane.meanMs);
      while (lane.waiting.size > 0 && canWaited(lane)) {
        const [next] = lane.waiting.values();
        next?.();
      }
      if (lane.waited + lane.tried === 0) lanes.delete(target);
    };
  }

  return {
    begin(target, signal) {
      if (signal?.aborted === true) return Promise.resolve(null);
      const lane = laneOf(target);
      if (lane.waiting.size === 0 && canWaited(lane)) return Promise.resolve(enter(target, lane, "waited"));
      return new Promise((resolve) => {
        arrivals += 1;
        const arrival = arrivals;
        const turn = () => {
          lane.waiting.delete(arrival);
          signal?.removeEventListener("abort", stop);
          resolve(enter(target, lane, "waited"));
        };
        const stop = () => {
          lane.waiting.delete(arrival);
          resolve(null);
        };
        lane.waiting.set(arrival, turn);
        signal?.addEventListener("abort", stop, { once: true });
      });
    },
    tryBegin(target) {
      const lane = laneOf(target);
      if (canTried(lane)) return { kind: "begun", done: enter(target, lane, "tried") };
      const now = clock.monotonic();
      lane.retryAt = spreadRetry(lane.retryAt, now, lane.meanMs / most);
      return { kind: "postponed", retryAfterMs: lane.retryAt - now };
    },
  };
}
