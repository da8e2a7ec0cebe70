import type { EventType } from "#control-plane/notify/events/event.ts";
import type { StoredOf } from "#control-plane/http/resource.ts";
import type { webhook } from "#control-plane/notify/webhooks/resource.ts";
import type { WebhookSecrets } from "#control-plane/notify/webhooks/secrets.ts";

/** Which events a subscription gets: those about one of these monitors, or about a monitor with one of these tags. */
export interface WebhookFilter {
  readonly monitor_ids: readonly number[];
  readonly tags: readonly string[];
}

/** Why the service, and not a user, made a subscription inactive. */
export type InactiveReason = "plan_limit" | "failing" | "gone";

/** The settings of a subscription that are not secret. */
export interface WebhookSettings extends StoredOf<typeof webhook> {
  /** null: all types that the account's plan allows at the time of the event. */
  readonly events: readonly EventType[] | null;
  /** null: events about all monitors. */
  readonly filter: WebhookFilter | null;
}

/** A subscription as it is read and written. */
export interface WebhookDraft {
  readonly settings: WebhookSettings;
  readonly secrets: WebhookSecrets;
}

/** A stored subscription. */
export interface StoredWebhook extends WebhookSettings {
  readonly id: number;
  readonly accountId: number;
  readonly inactiveReason: InactiveReason | null;
  /** WebhookSecrets, sealed. */
  readonly secrets: Uint8Array;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}
