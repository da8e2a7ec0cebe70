/** Resolves when a job ends, for callers that would otherwise wait for a thread. */
export function cancelled(signal: AbortSignal): Promise<"cancelled"> {
  return new Promise((resolve) => {
    const stop = (): void => resolve("cancelled");
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
