import type { Outcome } from "#control-plane/notify/deliveries/delivery.ts";
import type { Format } from "#control-plane/notify/webhooks/formats/format.ts";
import type { Exchanged } from "#control-plane/notify/webhooks/send/exchange.ts";
import type { SendFault } from "#control-plane/notify/webhooks/send/fault.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";

/** Characters of an answer that are the reason of a refusal. */
const MOST_QUOTE = 200;
const SECONDS = /^\d{1,9}$/;
// IMF-fixdate of RFC 9110, section 5.6.7.
const DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Decides what the answer of a receiver, or its absence, means for a delivery. `now`: when it arrived. The format finds the
 * id of the provider in the answer, and whether it refuses the message there.
 */
export function toOutcome(
  exchanged: Exchanged,
  now: Date,
  { reference, refusal }: Pick<Format, "reference" | "refusal"> = {},
): Outcome {
  if (!exchanged.ok) return failWith(exchanged.fault);
  const { status, headers, body, isTruncated } = exchanged;
  const answer = {
    responseCode: status,
    responseHeaders: JSON.stringify(headers),
    responseBody: body,
    isTruncated,
  };
  const retryAfter = headers.find(({ name }) => name === "retry-after")?.value;
  const waitMs = retryAfter === undefined ? null : readRetryAfter(retryAfter, now);
  const wait = waitMs === null ? {} : { waitMs };
  if (status >= 200 && status < 300) {
    const refused = refusal?.(body) ?? null;
    if (refused === null) return { kind: "delivered", ...answer, providerRef: reference?.(body) ?? null };
    const fault = { ...answer, code: "refused_by_provider", message: toPlainLine(body, MOST_QUOTE) };
    return refused === "permanent" ? { kind: "refused", ...fault } : { kind: "retry", ...fault, ...wait };
  }
  // RFC 9110, section 15.5.11: the condition is likely to be permanent.
  if (status === 410) {
    return { kind: "refused", ...answer, code: "gone", message: "The receiver answered 410: it takes no more events." };
  }
  const message =
    status >= 300 && status < 400
      ? `The receiver answered ${status}. Redirects are not followed: set the final address as url.`
      : `The receiver answered ${status}; only 2xx counts as delivered.`;
  return { kind: "retry", ...answer, code: "http_status", message, ...wait };
}

/** Returns the outcome of an attempt without an answer. An address that is not allowed ends the delivery. */
export function failWith({ code, message }: SendFault): Outcome {
  return { kind: code === "target_not_allowed" ? "refused" : "retry", responseCode: null, code, message };
}

/** Reads Retry-After (RFC 9110, section 10.2.3): seconds or a date. Returns milliseconds; null if it is neither. */
export function readRetryAfter(text: string, now: Date): number | null {
  const trimmed = text.trim();
  if (SECONDS.test(trimmed)) return Number(trimmed) * 1_000;
  const at = DATE.test(trimmed) ? Date.parse(trimmed) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now.getTime());
}
