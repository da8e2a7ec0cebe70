import { createPump } from "#control-plane/database/pump.ts";

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
  /** Does one job. Must be idempotent: after a crash or a lost `settle` the same job is fetched again. */
  readonly work: (data: unknown, signal: AbortSignal) => Promise<JobResult>;
  /** Receives what a worker threw, which is a bug. The job goes back to the queue. */
  readonly onError: (error: unknown) => void;
}

/** Interval in milliseconds at which jobs without a notification are looked for. */
const SWEEP_MS = 1_000;
/** Sweeps that are skipped after a job went back, so that another replica can fetch it first. */
const REST_SWEEPS = 2;
/** Interval of `touch` in milliseconds: less than half of the shortest `lostAfterSeconds` of a queue (jobs.ts). */
const TOUCH_MS = 4_000;
/** Time in milliseconds that aborted workers have to return. */
const ABORT_MS = 2_000;

/**
 * Creates a puller. One statement fetches jobs for all free places, so that a burst of jobs starts immediately and a
 * slow job delays no other. (pg-boss's own `work` gives each of its loops one job, or a batch whose jobs end together.)
 */
export function createPuller({ queue, concurrency, work, onError }: PullerOptions): Puller {
  const running = new Map<FetchedJob, Promise<void>>();
  const abort = new AbortController();
  let stopped = false;
  let rest = 0;

  const pump = createPump(async () => {
    const free = concurrency - running.size;
    if (stopped || free <= 0) return;
    // If the database is away, the next sweep fetches again.
    const jobs = await queue.fetch(free).catch(() => []);
    for (const job of jobs) running.set(job, run(job));
  });

  async function run(job: FetchedJob): Promise<void> {
    const result = await work(job.data, abort.signal).catch((error: unknown): JobResult => {
      onError(error);
      return "later";
    });
    if (result === "later") rest = REST_SWEEPS;
    // No more `touch` from now on: if `settle` fails, the queue considers the job lost and it is fetched again.
    await queue.settle(job, result).catch(() => {});
    const wasFull = running.size >= concurrency;
    running.delete(job);
    if (wasFull) pump.wake();
  }

  const sweep = setInterval(() => {
    if (rest > 0) rest -= 1;
    else pump.wake();
  }, SWEEP_MS);
  const touch = setInterval(() => {
    if (running.size > 0) void queue.touch([...running.keys()]).catch(() => {});
  }, TOUCH_MS);

  return {
    wake: () => pump.wake(),
    async stop(graceMs) {
      stopped = true;
      clearInterval(sweep);
      const all = Promise.all(running.values());
      await Promise.race([all, delay(graceMs)]);
      abort.abort();
      await Promise.race([all, delay(ABORT_MS)]);
      clearInterval(touch);
    },
  };
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
