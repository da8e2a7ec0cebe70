import type { Logger } from "pino";

/** The closes of what a process has opened so far. */
export interface Teardown {
  /** Adds the close of a part; call it as soon as the part is open. */
  push(close: () => unknown): void;
  /** Closes every part once, the last opened first, each after the one before. A close that fails is logged. A second call waits for the first. */
  run(): Promise<void>;
}

/** Makes an empty stack of closes. */
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

/** Opens parts that belong together; when one of them fails to open, closes those before it and rejects with its error. */
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
