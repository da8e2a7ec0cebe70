import type { Logger } from "pino";
import type { Timers } from "#control-plane/core/timers.ts";
import { startClaimedWork, type ClaimedWork } from "#control-plane/checks/jobs/claimed-work.ts";

/** A fetched job. `retryCount` identifies the attempt: the queue ignores calls of an earlier, lost attempt. */
interface FetchedJob {
  readonly id: string;
  readonly retryCount: number;
  readonly data: unknown;
}

/** How a worker left its job. done: it is finished. later: it goes back to the queue, and any replica can fetch it. */
export type JobResult = "done" | "later";

/** A queue from which jobs are fetched. Every method can reject while the database is away. */
interface QueuePort {
  /** Fetches up to `most` jobs. */
  fetch(most: number): Promise<readonly FetchedJob[]>;
  /** Ends an attempt with its result. */
  settle(job: FetchedJob, result: JobResult): Promise<void>;
  /** Reports that workers still run these jobs. */
  touch(jobs: readonly FetchedJob[]): Promise<void>;
}

/** Fetches jobs while there is room. Each job is settled separately. */
export interface Puller {
  /** Fetches soon. Call it when there can be new jobs. */
  wake(): void;
  /** Stops fetching, waits up to `graceMs` for running jobs, then aborts the others, which go back to the queue. */
  stop(graceMs: number): Promise<void>;
}

/** Options of a puller. */
interface PullerOptions {
  readonly queue: QueuePort;
  /** Maximum number of jobs that run at the same time in this process. */
  readonly concurrency: number;
  readonly log: Pick<Logger, "debug" | "error">;
  readonly timers: Timers;
  /** Does one job. Must be idempotent: after a crash or a lost `settle` the same job is fetched again. */
  readonly work: (data: unknown, signal: AbortSignal) => Promise<JobResult>;
  /** Receives what a worker threw, which is a bug. The job goes back to the queue. */
  readonly onError: (error: unknown) => void;
}

/** Interval in milliseconds at which jobs without a notification are looked for. */
const LOOK_MS = 1_000;
/** Looks that are skipped after a job went back, so that another replica can fetch it first. */
const REST_LOOKS = 2;
/** Interval of `touch` in milliseconds: less than half of the shortest `lostAfterSeconds` of a queue (jobs.ts). */
const TOUCH_MS = 4_000;

/**
 * Creates a puller. One statement fetches jobs for all free places, so that a burst of jobs starts immediately and a
 * slow job delays no other. (pg-boss's own `work` gives each of its loops one job, or a batch whose jobs end together.)
 */
export function createPuller({ queue, concurrency, log, timers, work, onError }: PullerOptions): Puller {
  let rest = 0;
  let wasFull = false;

  async function fetch(room: number, isAsked: boolean): Promise<{ pieces: readonly FetchedJob[]; isMore: boolean }> {
    if (room === 0 || (!isAsked && !wasFull)) return { pieces: [], isMore: false };
    // If the database is away, the next look fetches again.
    const pieces = await queue.fetch(room).catch(() => []);
    wasFull = pieces.length === room;
    return { pieces, isMore: false };
  }

  async function run(job: FetchedJob, signal: AbortSignal): Promise<void> {
    const result = await work(job.data, signal).catch((error: unknown): JobResult => {
      onError(error);
      return "later";
    });
    if (result === "later") rest = REST_LOOKS;
    // If this fails, the queue considers the job lost when it was not touched for a while, and it is fetched again.
    await queue.settle(job, result).catch(() => {});
  }

  const jobs: ClaimedWork<FetchedJob> = startClaimedWork({
    name: "jobs: a fetch",
    log,
    timers,
    most: concurrency,
    lookMs: LOOK_MS,
    isLookDue() {
      if (rest === 0) return true;
      rest -= 1;
      return false;
    },
    claim: fetch,
    work: run,
    onError,
    renewal: {
      everyMs: TOUCH_MS,
      renew() {
        const running = [...jobs.running()];
        if (running.length > 0) void queue.touch(running).catch(() => {});
      },
    },
  });
  return { wake: () => jobs.wake(), stop: (graceMs) => jobs.stop(graceMs) };
}
