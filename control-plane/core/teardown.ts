import type { Logger } from "pino";

/** Close functions of the parts that a process has opened so far. */
export interface Teardown {
  /** Adds the close function of a part. Call it as soon as the part is open. */
  push(close: () => unknown): void;
  /**
   * Closes every part once, one after the other, the last opened first. Logs a close that fails. A second call waits
   * for the first.
   */
  run(): Promise<void>;
}

/** Creates an empty stack of close functions. */
function createTeardown(log: Pick<Logger, "error">): Teardown {
  const closes: (() => unknown)[] = [];
  let running: Promise<void> | null = null;

  async function closeAll(): Promise<void> {
    for (const close of closes.toReversed()) {
      try {
        await close();
      } catch (error) {
        log.error({ err: error }, "shutdown: a component failed to close");
      }
    }
  }

  return {
    push: (close) => void closes.push(close),
    run: () => (running ??= closeAll()),
  };
}

/** Opens parts that belong together. If one fails to open, closes those opened before it and rejects with its error. */
export async function openTogether<T>(
  log: Pick<Logger, "error">,
  open: (teardown: Teardown) => Promise<T>,
): Promise<T> {
  const teardown = createTeardown(log);
  try {
    return await open(teardown);
  } catch (error) {
    await teardown.run();
    throw error;
  }
}
