import type { EventType } from "#control-plane/notify/events/event.ts";
import type { StoredOf } from "#control-plane/http/resource.ts";
import type { webhook } from "#control-plane/notify/webhooks/resource.ts";

/** Every type of event that accounts can subscribe to, in the order in which answers list them. */
export const EVENT_TYPES = [
  "monitor.down",
  "monitor.up",
  "monitor.degraded",
  "monitor.advisory",
  "ssl.expiring",
  "ssl.expired",
  "ssl.chain_changed",
  "domain.expiring",
  "domain.expired",
  "visual.changed",
  "monitor.unwatched",
  "monitor.watched",
  "test",
] as const satisfies readonly EventType[];

/** Types that a subscription gets only if it names them. */
export const NAMED_ONLY: ReadonlySet<EventType> = new Set(["monitor.advisory", "monitor.unwatched", "monitor.watched"]);

/** Which events a subscription gets: those about one of these monitors, or about a monitor with one of these tags. */
export interface WebhookFilter {
  readonly monitor_ids: readonly number[];
  readonly tags: readonly string[];
}

/** Why the service, and not a user, made a subscription inactive. */
export type InactiveReason = "plan_limit" | "failing" | "gone";

/** The secret values of a subscription; encrypted at rest. */
export interface WebhookSecrets {
  /** Signs deliveries. */
  readonly secret: string;
  /** The secret before it; null: there was none, or its time is over. */
  readonly previous: {
    readonly secret: string;
    /** ISO 8601. It signs too until then. */ readonly until: string;
  } | null;
  /** Header fields of the user, by name. */
  readonly headers: Readonly<Record<string, string>>;
  /** What a provider needs beside the address. */
  readonly format_options: Readonly<Record<string, string>>;
  /**
   * Who manages the subscription, such as the owner of a document; absent or null: nobody. It is no secret, and is kept here
   * because nothing selects by it.
   */
  readonly managed_by?: string | null;
}

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
