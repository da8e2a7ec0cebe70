import type { NewEvent } from "#control-plane/notify/events/event.ts";

/** The field `data` of an event about a webhook that the service made inactive. */
export interface WebhookEventData {
  readonly webhook: {
    readonly id: number;
    readonly name: string;
    /** Its address without what is secret. */
    readonly address: string;
  };
  /** failing: no attempt succeeded for days. gone: the receiver answered 410. */
  readonly reason: "failing" | "gone";
  /** End of the first failed attempt, ISO 8601; null for gone. */
  readonly failing_since: string | null;
  /** Failed attempts since then; null for gone. */
  readonly failures: number | null;
}

/** Describes a webhook that became inactive as an event, of which the account is mailed. */
export function toDeactivatedEvent(accountId: number, data: WebhookEventData, at: Date): NewEvent {
  return {
    accountId,
    type: "webhook.deactivated",
    createdAt: at,
    data,
    monitorId: null,
    incidentId: null,
    isFlapping: false,
    mailTo: null,
  };
}
