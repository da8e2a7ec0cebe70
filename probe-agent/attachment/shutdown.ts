import type { Logger } from "pino";
import { waitAtMost } from "#shared/time-limit.ts";

/** What has to end, in order. */
interface ShutdownOptions {
  /** Takes no new jobs; resolves when the last one is done. */
  readonly drain: () => Promise<void>;
  /** Longest wait for the jobs, milliseconds. */
  readonly drainMs: number;
  /** Jobs that run here. */
  readonly running: () => number;
  /** Closes everything else. */
  readonly close: () => Promise<unknown>;
  readonly log: Logger;
}

/**
 * Ends the agent: refuses new jobs, gives those that run `drainMs`, then closes everything. Asked again, as Ctrl-C is (by
 * the terminal and by npm), it returns the shutdown under way.
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
