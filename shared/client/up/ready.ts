import { setTimeout as sleep } from "node:timers/promises";
import { callService, field } from "#shared/client/call.ts";

const EVERY_MS = 100;

/** Waits until a URL of the control plane's own listener answers 200; null if the signal was aborted first. */
export async function waitFor(url: string, signal: AbortSignal): Promise<{ degraded: readonly string[] } | null> {
  while (!signal.aborted) {
    const answer = await callService(url, { own: true, timeoutMs: 2_000 }).catch(() => null);
    if (answer?.status === 200) {
      const degraded = field(answer.body, "degraded");
      return { degraded: Array.isArray(degraded) ? degraded.map(String) : [] };
    }
    await sleep(EVERY_MS, undefined, { signal }).catch(() => {});
  }
  return null;
}
