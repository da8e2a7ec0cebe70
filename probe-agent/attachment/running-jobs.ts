import type { AgentMessage } from "#shared/protocol/probe.ts";

/** The stream that a job came from. Its result is sent through it. */
export interface JobSource {
  say(message: AgentMessage): void;
  /**
   * Sends a message and resolves when the connection has taken it over, so that a long file does not fill the stream in
   * front of other messages. Resolves immediately on a closed stream.
   */
  sayInTurn(message: AgentMessage): Promise<void>;
}

/** A running job. */
export interface RunningJob {
  /** Stops what the tool has open. */
  readonly abort: AbortController;
  readonly source: JobSource;
  readonly tool: string;
}

/** Running jobs of an agent by key, counted by stream. */
interface RunningJobs {
  add(key: string, job: RunningJob): void;
  /** Removes a job and returns it; null if it is not running. */
  remove(key: string): RunningJob | null;
  has(key: string): boolean;
  /** Counts the jobs of one stream, or of all. */
  count(source?: JobSource): number;
  /** Returns a copy of the jobs of one stream, with their keys. */
  of(source: JobSource): readonly (readonly [string, RunningJob])[];
}

/** Creates an empty list of jobs. */
export function createRunningJobs(): RunningJobs {
  const jobs = new Map<string, RunningJob>();
  const counts = new Map<JobSource, number>();
  return {
    add(key, job) {
      jobs.set(key, job);
      counts.set(job.source, (counts.get(job.source) ?? 0) + 1);
    },
    remove(key) {
      const job = jobs.get(key);
      if (job === undefined) return null;
      jobs.delete(key);
      const left = (counts.get(job.source) ?? 1) - 1;
      if (left === 0) counts.delete(job.source);
      else counts.set(job.source, left);
      return job;
    },
    has: (key) => jobs.has(key),
    count: (source) => (source === undefined ? jobs.size : (counts.get(source) ?? 0)),
    of: (source) => [...jobs].filter(([, job]) => job.source === source),
  };
}
