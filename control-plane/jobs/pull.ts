import { createPump } from "#control-plane/database/pump.ts";

/** A job as fetched: `retryCount` names the attempt, so that what a lost claim still says does not count. */
interface FetchedJob {
  readonly id: string;
  readonly retryCount: number;
  readonly data: unknown;
}

/** done: finished for good. later: put it back, any replica may take it up again. */
export type JobVerdict = "done" | "later";

/** What a queue's jobs are taken from and given back to; every one of these may reject while the database is away. */
interface QueuePort {
  fetch(most: number): Promise<readonly FetchedJob[]>;
  settle(job: FetchedJob, verdict: JobVerdict): Promise<void>;
  /** Says that these are still being worked on. */
  touch(jobs: readonly FetchedJob[]): Promise<void>;
}

/** Takes jobs as long as there is room, each settled on its own. */
export interface Puller {
  /** There may be something to fetch. */
  wake(): void;
  /** Takes nothing more, waits for what runs, then aborts the rest, which is put back. */
  stop(graceMs: number): Promise<void>;
}

/** What a puller does with its jobs. */
interface PullerOptions {
  readonly queue: QueuePort;
  /** Most jobs at once in this process. */
  readonly concurrency: number;
  /** Must be idempotent: after a crash, or a settlement that never arrived, the same job comes again. */
  readonly work: (data: unknown, signal: AbortSignal) => Promise<JobVerdict>;
  /** A worker threw: a bug. The job is put back. */
  readonly onError: (error: unknown) => void;
}

/** Milliseconds after which jobs without a notification are found. */
const SWEEP_MS = 1_000;
/** Sweeps left out after a job was put back, so that another replica comes first. */
const REST_SWEEPS = 2;
/** Less than half of the shortest `lostAfterSeconds` of a queue (jobs.ts). */
const TOUCH_MS = 4_000;
/** Milliseconds that aborted workers get to return. */
const ABORT_MS = 2_000;

/**
 * One statement fetches for all free places, so that a burst of jobs starts at once and a slow job holds up no other
 * (pg-boss's own `work` gives each of its loops one job, or a batch that ends together).
 */
export function createPuller({ queue, concurrency, work, onError }: PullerOptions): Puller {
  const running = new Map<FetchedJob, Promise<void>>();
  const abort = new AbortController();
  let stopped = false;
  let rest = 0;

  const pump = createPump(async () => {
    const free = concurrency - running.size;
    if (stopped || free <= 0) return;
    // The database is away: the next sweep asks again.
    const jobs = await queue.fetch(free).catch(() => []);
    for (const job of jobs) running.set(job, run(job));
  });

  async function run(job: FetchedJob): Promise<void> {
    const verdict = await work(job.data, abort.signal).catch((error: unknown): JobVerdict => {
      onError(error);
      return "later";
    });
    if (verdict === "later") rest = REST_SWEEPS;
    // Untouched from now on: where this fails, the job is taken for lost and comes again.
    await queue.settle(job, verdict).catch(() => {});
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
