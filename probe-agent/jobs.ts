import type { Logger } from "pino";
import type { Clock } from "#shared/clock.ts";
import type { AgentMessage, Job as WireJob } from "#shared/protocol/probe.ts";
import { MAX_PROGRESS_BYTES } from "#shared/wire.ts";
import type { AgentMetrics } from "#probe-agent/metrics.ts";
import { canRun, runJob, type NetFactory } from "#probe-agent/run-job.ts";

/** The jobs of one agent, over all its streams. */
export interface JobPool {
  /** Runs a job and says its result through `send`; declines what it cannot or will not run. */
  accept(job: WireJob, send: (message: AgentMessage) => void): void;
  cancel(jobId: string, attempt: number): void;
  /** Stops every job that came through this `send`: the hub has given them to others. */
  abandon(send: (message: AgentMessage) => void): void;
  running(): number;
  /** No new jobs; resolves when the last one is done. */
  drain(): Promise<void>;
}

/** What a pool needs. */
export interface JobPoolOptions {
  readonly maxJobs: number;
  readonly clock: Clock;
  readonly createNet: NetFactory;
  readonly metrics: AgentMetrics;
  readonly log: Logger;
}

interface Running {
  readonly abort: AbortController;
  readonly send: (message: AgentMessage) => void;
}

/** An empty pool. */
export function createJobPool({ maxJobs, clock, createNet, metrics, log }: JobPoolOptions): JobPool {
  const jobs = new Map<string, Running>();
  let draining = false;
  let idle: () => void = () => {};
  metrics.readRunning(() => jobs.size);

  async function run(job: WireJob, send: Running["send"]): Promise<void> {
    const { jobId, attempt, tool } = job;
    const key = `${jobId}/${attempt}`;
    const abort = new AbortController();
    const startedAt = clock.monotonic();
    const timer = setTimeout(() => abort.abort(), job.deadlineMs);
    jobs.set(key, { abort, send });
    const limits = {
      signal: abort.signal,
      deadline: startedAt + job.deadlineMs,
      now: () => new Date(job.timeMs + (clock.monotonic() - startedAt)),
    };
    const outcome = await runJob(job, limits, createNet, (event) => progress(job, event, send), log);
    clearTimeout(timer);
    abort.abort(); // whatever a tool left open closes now
    const elapsedMs = clock.monotonic() - startedAt;
    if (jobs.delete(key)) {
      metrics.jobDone(tool, elapsedMs);
      const durationMs = Math.round(elapsedMs);
      send({ body: { $case: "result", value: { jobId, attempt, outcome, durationMs } } });
    }
    if (jobs.size === 0) idle();
  }

  function progress(job: WireJob, event: { kind: string; data: unknown }, send: Running["send"]): void {
    const data = JSON.stringify(event.data);
    if (data.length > MAX_PROGRESS_BYTES || !jobs.has(`${job.jobId}/${job.attempt}`)) return;
    send({ body: { $case: "progress", value: { jobId: job.jobId, attempt: job.attempt, kind: event.kind, data } } });
  }

  return {
    accept(job, send) {
      const named = { jobId: job.jobId, attempt: job.attempt };
      const reason = draining ? "draining" : jobs.size >= maxJobs ? "busy" : canRun(job.tool) ? null : "incapable";
      if (reason !== null) {
        metrics.jobDeclined(reason);
        send({ body: { $case: "declined", value: { ...named, reason } } });
        return;
      }
      send({ body: { $case: "accepted", value: named } });
      void run(job, send);
    },
    cancel(jobId, attempt) {
      const key = `${jobId}/${attempt}`;
      const job = jobs.get(key);
      jobs.delete(key);
      job?.abort.abort();
    },
    abandon(send) {
      for (const [key, job] of jobs) {
        if (job.send !== send) continue;
        jobs.delete(key);
        job.abort.abort();
      }
      if (jobs.size === 0) idle();
    },
    running: () => jobs.size,
    drain() {
      draining = true;
      if (jobs.size === 0) return Promise.resolve();
      return new Promise((resolve) => {
        idle = resolve;
      });
    },
  };
}
