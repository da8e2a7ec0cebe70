import { waitAtMost } from "#shared/time/time-limit.ts";
import type { ClaimedDelivery, Outcome, Sender } from "#control-plane/notify/deliveries/delivery.ts";
import type { DeliveryMetrics } from "#control-plane/notify/deliveries/metrics.ts";
import type { SettledAttempt } from "#control-plane/notify/deliveries/store.ts";

/** Time that a sender has to return after its time is up, milliseconds. */
const ABORT_MS = 2_000;

/**
 * Makes an attempt that ends in time, or when `stopping` is aborted. Its timer ends with it: that of AbortSignal.timeout would go on, and keep what an
 * attempt consists of for the whole time limit.
 */
export async function sendInTime(sender: Sender, delivery: ClaimedDelivery, stopping: AbortSignal): Promise<Outcome> {
  const abort = new AbortController();
  const end = (): void => abort.abort(ENDED);
  const timer = setTimeout(end, sender.timeoutMs);
  stopping.addEventListener("abort", end, { once: true });
  if (stopping.aborted) end();
  try {
    return await waitAtMost<Outcome>(sender.timeoutMs + ABORT_MS, sender.send(delivery, abort.signal), TIMEOUT);
  } finally {
    clearTimeout(timer);
    stopping.removeEventListener("abort", end);
  }
}

/** Why attempts are aborted. Their outcome says more. */
const ENDED = new Error("the time of this attempt is up");

const TIMEOUT: Outcome = {
  kind: "retry",
  responseCode: null,
  code: "timeout",
  message: "The attempt took longer than its time limit.",
};

/** Outcome of an attempt whose sender has a bug. */
export const INTERNAL: Outcome = {
  kind: "retry",
  responseCode: null,
  code: "internal_error",
  message: "Internal error. It is logged with the id of the delivery.",
};

/** Returns the receiver whose state an outcome shows; null if it shows none. */
export function receiverOf(
  { channel, probes, notesFailures }: Sender,
  { receiverId }: ClaimedDelivery,
  outcome: Outcome,
): SettledAttempt["receiver"] {
  const isOwn = outcome.kind === "refused" && outcome.isOwn === true;
  const isNoted = probes !== null || notesFailures === true;
  return !isNoted || isOwn || outcome === INTERNAL ? null : { channel, id: receiverId };
}

/** Counts an attempt, and the time from the creation of a delivery to its success. */
export function observeAttempt(
  metrics: DeliveryMetrics,
  { channel, createdAt }: ClaimedDelivery,
  { outcome, status, endedAt }: { readonly outcome: Outcome; readonly status: string; readonly endedAt: Date },
): void {
  metrics.attempts.inc({ channel, result: outcome.kind });
  if (status !== "retrying") metrics.ended.inc({ channel, status });
  if (status === "delivered") {
    metrics.latency.observe({ channel }, Math.max(0, (endedAt.getTime() - createdAt.getTime()) / 1_000));
  }
}
