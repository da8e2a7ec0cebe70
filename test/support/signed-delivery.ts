import { signStandard, signV2 } from "#shared/webhooks/signature.ts";

/** What is signed, and with what; everything has a default but the secret. */
interface SignedDelivery {
  /** The secret, and the one before it during a rotation. */
  readonly secrets: readonly [string, ...string[]];
  readonly body: string;
  readonly id?: string;
  /** Unix seconds. Default: now. */
  readonly timestamp?: number;
  readonly event?: string;
}

/** Returns the header fields of a delivery, signed by the real functions. */
export function deliveryHeaders(delivery: SignedDelivery): Record<string, string> {
  const { secrets, body, id = "evt_1", event = "monitor.down" } = delivery;
  const timestamp = delivery.timestamp ?? Math.floor(Date.now() / 1_000);
  const [secret, previous] = secrets;
  return {
    "content-type": "application/json",
    "x-service-event": event,
    "x-service-timestamp": String(timestamp),
    "x-service-delivery": "12",
    "x-service-attempt": "1",
    "x-service-signature-v2": signV2(secret, timestamp, body),
    ...(previous === undefined ? {} : { "x-service-signature-v2-previous": signV2(previous, timestamp, body) }),
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": secrets.map((one) => signStandard(one, id, timestamp, body)).join(" "),
  };
}
