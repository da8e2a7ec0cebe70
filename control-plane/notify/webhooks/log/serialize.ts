import type { Static } from "typebox";
import type { LoggedAttempt, LoggedDelivery } from "#control-plane/notify/deliveries/log/logged.ts";
import type { DELIVERY, DELIVERY_WITH_ATTEMPTS } from "#control-plane/notify/webhooks/log/schemas.ts";

type ShownDelivery = Static<typeof DELIVERY>;
type ShownAttempt = Static<typeof DELIVERY_WITH_ATTEMPTS>["attempt_log"][number];

/** Returns a delivery as the API shows it. */
export function showDelivery(delivery: LoggedDelivery): ShownDelivery {
  return {
    id: delivery.id,
    webhook_id: delivery.receiverId,
    event_id: delivery.eventId,
    event_type: delivery.eventType as ShownDelivery["event_type"],
    status: delivery.status,
    http_status_code: delivery.responseCode,
    attempts: delivery.attempts,
    error_code: delivery.errorCode,
    error_message: delivery.errorMessage,
    duration_ms: delivery.durationMs,
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    replay_of: delivery.replayOf,
    provider_ref: delivery.providerRef,
    created_at: delivery.createdAt.toISOString(),
    delivered_at: delivery.deliveredAt?.toISOString() ?? null,
  };
}

/** Returns an attempt as the API shows it. */
export function showAttempt(attempt: LoggedAttempt): ShownAttempt {
  const { responseHeaders } = attempt;
  return {
    attempt: attempt.attempt,
    started_at: attempt.startedAt.toISOString(),
    ended_at: attempt.endedAt?.toISOString() ?? null,
    http_status_code: attempt.responseCode,
    error_code: attempt.errorCode,
    error_message: attempt.errorMessage,
    response_headers: responseHeaders === null ? [] : (JSON.parse(responseHeaders) as ShownAttempt["response_headers"]),
    response_body: attempt.responseBody,
    truncated: attempt.truncated ?? false,
  };
}
