import type { Logger } from "pino";
import { waitAtMost } from "#shared/time/time-limit.ts";

/** Parts of the agent to stop, in order. */
interface ShutdownOptions {
  /** Declines new jobs. Resolves when the last one has ended. */
  readonly drain: () => Promise<void>;
  /** Maximum wait for the jobs, in milliseconds. */
  readonly drainMs: number;
  /** Counts running jobs. */
  readonly running: () => number;
  /** Closes everything else. */
  readonly close: () => Promise<unknown>;
  readonly log: Logger;
}

/**
 * Creates the shutdown of the agent: refuses new jobs, waits `drainMs` for running ones, then closes everything. A
 * second call, as from Ctrl-C (by the terminal and by npm), returns the shutdown in progress.
 */
export function createShutdown(options: ShutdownOptions): (reason: string) => Promise<void> {
  const { drain, drainMs, running, close, log } = options;
  let ending: Promise<void> | null = null;

  async function shutDown(reason: string): Promise<void> {
    log.info({ signal: reason, running: running() }, "agent draining");
    await waitAtMost(drainMs, drain(), undefined);
    if (running() > 0) log.warn({ running: running() }, `jobs still running after ${drainMs / 1000} s: stopping them`);
    await close();
  }

  return (reason) => (ending ??= shutDown(reason));
}
