import type { ClaimedDelivery } from "#control-plane/notify/deliveries/delivery.ts";
import { signLegacy, signStandard, signV2 } from "#shared/webhooks/signature.ts";
import { signingSecrets } from "#control-plane/notify/webhooks/secrets.ts";
import type { WebhookSecrets } from "#control-plane/notify/webhooks/secrets.ts";

/** What is signed. */
interface SignedRequest {
  readonly delivery: Pick<ClaimedDelivery, "id" | "attempt" | "events">;
  readonly secrets: WebhookSecrets;
  readonly body: string;
  /** When the request is sent: each attempt has its own signatures. */
  readonly now: Date;
  /** Before this time the legacy signature is sent too. */
  readonly legacyUntil: Date;
}

/**
 * Returns the header fields by which a receiver knows and verifies a delivery: those of the service, and those of
 * Standard Webhooks 1.0.0. While a replaced secret is valid, each set has a second signature.
 */
export function signRequest({ delivery, secrets, body, now, legacyUntil }: SignedRequest): Record<string, string> {
  const { id, attempt, events } = delivery;
  const [event] = events;
  const timestamp = Math.floor(now.getTime() / 1_000);
  const [secret, previous] = signingSecrets(secrets, now);
  const standard = [secret, previous]
    .filter((one) => one !== undefined)
    .map((one) => signStandard(one, event.id, timestamp, body));
  return {
    "x-service-event": event.type,
    "x-service-timestamp": String(timestamp),
    "x-service-signature-v2": signV2(secret, timestamp, body),
    ...(previous === undefined ? {} : { "x-service-signature-v2-previous": signV2(previous, timestamp, body) }),
    ...(now < legacyUntil ? { "x-service-signature": signLegacy(secret, body) } : {}),
    "x-service-delivery": String(id),
    "x-service-attempt": String(attempt),
    "webhook-id": event.id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": standard.join(" "),
  };
}
