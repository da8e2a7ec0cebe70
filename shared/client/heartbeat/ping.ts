import { setTimeout as sleep } from "node:timers/promises";
import { openCall, readAnswer } from "#shared/client/call.ts";
import { describeError } from "#shared/contracts/error-code.ts";
import { withoutTrailing } from "#shared/text/strip-trailing.ts";

/** How long a ping waits for its answer, milliseconds. */
const WAIT_MS = 10_000;
/** Waits before the second and the third attempt of a ping that must arrive, milliseconds. */
const RETRY_WAITS_MS = [1_000, 3_000] as const;
/** What a control plane keeps of the body of a ping, bytes. */
export const MOST_BODY_BYTES = 10_240;

/** Whether a ping has arrived, or why not. */
export type Pinged = { readonly ok: true } | { readonly ok: false; readonly reason: string; readonly isFinal: boolean };

/** Options of a ping. */
interface PingOptions {
  readonly body?: Buffer;
  /** Ends waits and attempts. */
  readonly stop: AbortSignal;
}

/**
 * Returns the address of a ping: the heartbeat's, followed by `start` or an exit code. `rid` tells runs at the same time
 * apart; one in the address stays. Pure.
 */
export function pingUrl(heartbeat: URL, tail: string, rid: string): URL {
  const url = new URL(heartbeat);
  url.pathname = `${withoutTrailing(url.pathname, (one) => one === "/")}/${tail}`;
  if (!url.searchParams.has("rid")) url.searchParams.set("rid", rid);
  return url;
}

/** Sends a ping once. POST, because a heartbeat can be set to count no other method. Never rejects. */
export async function sendPing(url: URL, { body = Buffer.alloc(0), stop }: PingOptions): Promise<Pinged> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(WAIT_MS)]);
  const headers = { "content-type": "text/plain", "user-agent": "vantage-heartbeat" };
  try {
    const response = await openCall(url.href, { method: "POST", headers, body, signal });
    const status = response.statusCode ?? 0;
    await readAnswer(response);
    // 429: the ping is recorded, its body is not.
    if ((status >= 200 && status < 300) || status === 429) return { ok: true };
    return { ok: false, reason: `${url.host} answered ${status}`, isFinal: status < 500 };
  } catch (error) {
    const isLate = signal.aborted && !stop.aborted;
    return {
      ok: false,
      reason: isLate ? `no answer within ${WAIT_MS / 1_000} s` : describeError(error),
      isFinal: false,
    };
  }
}

/** Sends a ping up to three times, until it arrives or can never arrive. */
export async function sendPingSurely(url: URL, options: PingOptions): Promise<Pinged> {
  let pinged = await sendPing(url, options);
  for (const wait of RETRY_WAITS_MS) {
    if (pinged.ok || pinged.isFinal || options.stop.aborted) return pinged;
    await sleep(wait, undefined, { signal: options.stop }).catch(() => {});
    pinged = await sendPing(url, options);
  }
  return pinged;
}
