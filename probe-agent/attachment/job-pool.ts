import type { Logger } from "pino";
import type { Clock } from "#shared/clock.ts";
import type { AgentMessage, Job as WireJob } from "#shared/protocol/probe.ts";
import { MAX_PROGRESS_BYTES } from "#shared/wire.ts";
import type { AgentMetrics } from "#probe-agent/metrics/agent-metrics.ts";
import { canRun, runJob, type JudgeFailure, type NetFactory } from "#probe-agent/run-job.ts";

/** The stream a job came by; its answer goes back by it. */
export interface JobSource {
  say(message: AgentMessage): void;
}

/** The jobs of one agent, over all its streams. */
export interface JobPool {
  /** Runs a job and sends its result to its source, or declines it: the reason then, else null. */
  accept(job: WireJob, source: JobSource): "busy" | "draining" | "incapable" | null;
  cancel(jobId: string, attempt: number): void;
  /** Stops every job of a lost stream: the hub gives them to other agents. */
  abandon(source: JobSource): void;
  /** Jobs of one stream, or of all. */
  running(source?: JobSource): number;
  /** No new jobs; resolves when the last one is done. */
  drain(): Promise<void>;
}

/** What a pool needs. */
export interface JobPoolOptions {
  readonly maxJobs: number;
  readonly clock: Clock;
  readonly createNet: NetFactory;
  /** Corrects the source of every failure before it is sent. */
  readonly judge: JudgeFailure;
  /** A job is near its deadline and may fail soon. */
  readonly onLate: () => void;
  readonly metrics: AgentMetrics;
  readonly log: Logger;
  /** A job began or ended: credits may have to move to another stream. */
  readonly onChange: () => void;
}

/** A job with less time left than this is late: as long as a look at the agent's own network takes (self-test.ts). */
const LATE_MS = 2_500;

/** The abort reason of a job's signal. It is never read; the default, a DOMException with a stack, costs a busy agent 3 %. */
const ENDED = "the job has ended";

interface Running {
  readonly abort: AbortController;
  readonly source: JobSource;
  readonly tool: string;
}

/** An empty pool. */
export function createJobPool(options: JobPoolOptions): JobPool {
  const { maxJobs, clock, createNet, judge, metrics, log, onChange, onLate } = options;
  const jobs = new Map<string, Running>();
  const bySource = new Map<JobSource, number>();
  let draining = false;
  let idle: () => void = () => {};

  function begin(key: string, job: Running): void {
    jobs.set(key, job);
    bySource.set(job.source, (bySource.get(job.source) ?? 0) + 1);
    onChange();
  }

  /** Forgets a job and aborts what it left open; null when it was cancelled or abandoned before. */
  function end(key: string): Running | null {
    const job = jobs.get(key);
    if (job === undefined) return null;
    jobs.delete(key);
    const left = (bySource.get(job.source) ?? 1) - 1;
    if (left === 0) bySource.delete(job.source);
    else bySource.set(job.source, left);
    job.abort.abort(ENDED); // closes what the tool left open
    onChange();
    if (jobs.size === 0) idle();
    return job;
  }

  async function run(job: WireJob, source: JobSource): Promise<void> {
    const { jobId, attempt, tool } = job;
    const key = `${jobId}/${attempt}`;
    const abort = new AbortController();
    const startedAt = clock.monotonic();
    const timer = setTimeout(() => abort.abort(ENDED), job.deadlineMs);
    const late = setTimeout(onLate, Math.max(job.deadlineMs / 2, job.deadlineMs - LATE_MS));
    begin(key, { abort, source, tool });
    const limits = {
      signal: abort.signal,
      deadline: startedAt + job.deadlineMs,
      now: () => new Date(job.timeMs + (clock.monotonic() - startedAt)),
    };
    const emit = job.quiet ? dropProgress : (event: { kind: string; data: unknown }) => progress(job, event, source);
    const { outcome, result } = await runJob(job, limits, { createNet, judge, log, clock }, emit);
    clearTimeout(timer);
    clearTimeout(late);
    const elapsedMs = clock.monotonic() - startedAt;
    if (end(key) === null) return;
    metrics.jobDone(tool, result, elapsedMs);
    source.say({ body: { $case: "result", value: { jobId, attempt, outcome, durationMs: Math.round(elapsedMs) } } });
  }

  function progress(job: WireJob, event: { kind: string; data: unknown }, source: JobSource): void {
    const { jobId, attempt } = job;
    if (!jobs.has(`${jobId}/${attempt}`)) return;
    const data = JSON.stringify(event.data);
    if (data.length > MAX_PROGRESS_BYTES) return metrics.tooLarge("progress");
    source.say({ body: { $case: "progress", value: { jobId, attempt, kind: event.kind, data } } });
  }

  return {
    accept(job, source) {
      const named = { jobId: job.jobId, attempt: job.attempt };
      const reason = draining ? "draining" : jobs.size >= maxJobs ? "busy" : canRun(job.tool) ? null : "incapable";
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
      for (const [key, job] of jobs) {
        if (job.source !== source) continue;
        end(key);
        metrics.jobStopped(job.tool, "abandoned");
      }
    },
    running: (source) => (source === undefined ? jobs.size : (bySource.get(source) ?? 0)),
    drain() {
      draining = true;
      if (jobs.size === 0) return Promise.resolve();
      return new Promise((resolve) => {
        idle = resolve;
      });
    },
  };
}

/** Drops the progress of a job that no client follows. */
function dropProgress(): void {}
