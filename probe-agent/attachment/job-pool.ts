import type { Logger } from "pino";
import type { Clock } from "#shared/time/clock.ts";
import type { AgentMessage, Job as WireJob } from "#shared/protocol/probe.ts";
import { MAX_PROGRESS_BYTES, ARTIFACT_CHUNK_BYTES } from "#shared/protocol/wire.ts";
import type { AgentMetrics } from "#probe-agent/metrics/agent-metrics.ts";
import { canRun } from "#probe-agent/implementations.ts";
import type { LoopWatch } from "#probe-agent/loop-watch.ts";
import { createRunningJobs, type JobSource, type RunningJob } from "#probe-agent/attachment/running-jobs.ts";
import { loadReservedMs, runJob, type CorrectSource, type NetFactory } from "#probe-agent/run-job.ts";
import { createHash } from "node:crypto";

/** Runner of an agent's jobs from all its streams. */
export interface JobPool {
  /** Runs a job and sends its result to its source. Returns null, or the reason why it declined the job. */
  accept(job: WireJob, source: JobSource): "busy" | "draining" | "incapable" | null;
  cancel(jobId: string, attempt: number): void;
  /** Stops every job of a lost stream. The hub gives them to other agents. */
  abandon(source: JobSource): void;
  /** Counts running jobs of one stream, or of all. */
  running(source?: JobSource): number;
  /** Declines new jobs from now on. Resolves when the last job has ended. */
  drain(): Promise<void>;
}

/** Options of a pool. */
interface JobPoolOptions {
  readonly maxJobs: number;
  readonly clock: Clock;
  readonly createNet: NetFactory;
  /** Corrects the source of every failure before it is sent. */
  readonly correctSource: CorrectSource;
  /** Tells whether the agent itself caused a timeout. */
  readonly loop: LoopWatch;
  /** Called when a job is near its deadline and may fail soon. */
  readonly onLate: () => void;
  readonly metrics: AgentMetrics;
  readonly log: Logger;
  /** Called when a job began or ended, because credits may have to move to another stream. */
  readonly onChange: () => void;
}

/**
 * A job with less time left than this, in milliseconds, is late: the agent's test of its own network takes that long
 * (net/icmp/main.ts).
 */
const LATE_MS = 2_500;

/**
 * Abort reason of a job's signal. It is never read, but the default (a DOMException with a stack) costs a busy agent 3
 * %.
 */
const ENDED = "the job has ended";

/** Creates a pool without jobs. */
export function createJobPool(options: JobPoolOptions): JobPool {
  const { maxJobs, clock, createNet, correctSource, loop, metrics, log, onChange, onLate } = options;
  const jobs = createRunningJobs();
  let draining = false;
  let idle: () => void = () => {};

  /** Removes a job and closes what it left open. Returns null if it was cancelled or abandoned before. */
  function end(key: string): RunningJob | null {
    const job = jobs.remove(key);
    if (job === null) return null;
    job.abort.abort(ENDED);
    onChange();
    if (jobs.count() === 0) idle();
    return job;
  }

  async function run(job: WireJob, source: JobSource): Promise<void> {
    const { jobId, attempt, tool } = job;
    const key = `${jobId}/${attempt}`;
    const abort = new AbortController();
    const receivedAt = clock.monotonic();
    jobs.add(key, { abort, source, tool });
    onChange();
    const reserved = Math.min(await loadReservedMs(tool), job.deadlineMs / 2);
    const ownMs = job.deadlineMs - reserved;
    const leftMs = ownMs - (clock.monotonic() - receivedAt);
    const timer = setTimeout(() => abort.abort(ENDED), leftMs);
    // A job with time for the test after a failure does not need one before it.
    const late = reserved > 0 ? undefined : setTimeout(onLate, Math.max(leftMs / 2, leftMs - LATE_MS));
    const limits = {
      signal: abort.signal,
      deadline: receivedAt + ownMs,
      account: job.account,
      now: () => new Date(job.timeMs + (clock.monotonic() - receivedAt)),
    };
    const sendProgress = (event: { kind: string; data: unknown }): void => {
      const message = jobs.has(key) ? progressMessage(job, event) : null;
      if (message === "too_large") metrics.tooLarge("progress");
      else if (message !== null) source.say(message);
    };
    const emit = job.quiet ? dropProgress : sendProgress;
    const { outcome, result, file, elapsedMs } = await runJob(
      job,
      limits,
      { reservedMs: reserved, receivedAt, createNet, correctSource, loop, log, clock },
      emit,
    );
    clearTimeout(timer);
    clearTimeout(late);
    if (file !== null) await sendFile(file, job, source, () => jobs.has(key));
    if (end(key) === null) return;
    metrics.jobDone(tool, result, elapsedMs);
    source.say({ body: { $case: "result", value: { jobId, attempt, outcome, durationMs: Math.round(elapsedMs) } } });
  }

  return {
    accept(job, source) {
      const named = { jobId: job.jobId, attempt: job.attempt };
      const reason = draining ? "draining" : jobs.count() >= maxJobs ? "busy" : canRun(job.tool) ? null : "incapable";
      if (reason !== null) {
        metrics.jobDeclined(reason);
        source.say({ body: { $case: "declined", value: { ...named, reason } } });
        return reason;
      }
      if (!job.quiet) source.say({ body: { $case: "accepted", value: named } });
      void run(job, source);
      return null;
    },
    cancel(jobId, attempt) {
      const job = end(`${jobId}/${attempt}`);
      if (job !== null) metrics.jobStopped(job.tool, "cancelled");
    },
    abandon(source) {
      for (const [key, { tool }] of jobs.of(source)) {
        end(key);
        metrics.jobStopped(tool, "abandoned");
      }
    },
    running: (source) => jobs.count(source),
    drain() {
      draining = true;
      if (jobs.count() === 0) return Promise.resolve();
      return new Promise((resolve) => {
        idle = resolve;
      });
    },
  };
}

/** Encodes one progress event of a job. Returns "too_large" if it exceeds what a stream carries. */
export function progressMessage(
  { jobId, attempt }: Pick<WireJob, "jobId" | "attempt">,
  event: { readonly kind: string; readonly data: unknown },
): AgentMessage | "too_large" {
  const data = JSON.stringify(event.data);
  if (data.length > MAX_PROGRESS_BYTES) return "too_large";
  return { body: { $case: "progress", value: { jobId, attempt, kind: event.kind, data } } };
}

/** Drops the progress of a job that no client follows. */
function dropProgress(): void {}

/**
 * Sends the file of a job in chunks, each after the connection has taken over the one before, so that heartbeats and
 * results of other jobs wait for one chunk at most. Ends early when `isRunning` is false.
 */
export async function sendFile(
  file: Uint8Array,
  job: Pick<WireJob, "jobId" | "attempt">,
  source: JobSource,
  isRunning: () => boolean,
): Promise<void> {
  for (const message of splitFile(file, job)) {
    if (!isRunning()) return;
    await source.sayInTurn(message);
  }
}

/** Splits a file into its messages. */
function* splitFile(file: Uint8Array, { jobId, attempt }: Pick<WireJob, "jobId" | "attempt">): Generator<AgentMessage> {
  for (let index = 0; index * ARTIFACT_CHUNK_BYTES < file.length; index += 1) {
    const data = Buffer.from(file.subarray(index * ARTIFACT_CHUNK_BYTES, (index + 1) * ARTIFACT_CHUNK_BYTES));
    const last = (index + 1) * ARTIFACT_CHUNK_BYTES >= file.length;
    const sha256 = last ? createHash("sha256").update(file).digest() : Buffer.alloc(0);
    yield { body: { $case: "artifact", value: { jobId, attempt, index, data, last, sha256 } } };
  }
}
