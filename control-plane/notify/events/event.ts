import type { Channel } from "#control-plane/notify/deliveries/delivery.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";

/** Types of events that accounts can subscribe to. */
export type EventType =
  | "monitor.down"
  | "monitor.up"
  | "monitor.degraded"
  | "monitor.advisory"
  | "ssl.expiring"
  | "ssl.expired"
  | "ssl.chain_changed"
  | "domain.expiring"
  | "domain.expired"
  | "visual.changed"
  | "monitor.unwatched"
  | "monitor.watched"
  | "test";

/**
 * Types of events that only lead to mails: an outage that lasts, a monitor that changes too often, a request to confirm an address, a webhook that the
 * service made inactive, and what subscribers of status pages get.
 */
export type MailEventType =
  | "reminder"
  | "flapping"
  | "confirm"
  | "webhook.deactivated"
  | "page.confirm"
  | "page.incident"
  | "page.update"
  | "page.maintenance";

/** Something that happened, to be stored. */
export interface EventFacts {
  readonly accountId: number;
  readonly type: EventType | MailEventType;
  readonly createdAt: Date;
  /** The field `data` of the body. */
  readonly data: object;
  readonly monitorId: number | null;
  readonly incidentId: number | null;
  /** Whether the monitor changes too often, so that mails about it are sent at longer intervals. */
  readonly isFlapping: boolean;
}

/** An event to publish. */
export interface NewEvent extends EventFacts {
  /** Addresses to mail; null: the account's own address. undefined: nobody is mailed. */
  readonly mailTo?: readonly string[] | null;
  /** Until when the mails about it wait for the evidence of the outage; absent: they do not wait. */
  readonly mailWaitsUntil?: Date;
}

/** A receiver of an event. */
export interface Receiver {
  readonly receiverId: number;
  /** Address of a mail; null for webhooks. */
  readonly recipient: string | null;
  /** How long a mail to a visitor waits until an outage is an incident of the page, milliseconds; absent: not at all. */
  readonly waitMs?: number | null;
}

/** Finds the receivers of events on one channel. */
export interface ReceiverSource {
  readonly channel: Channel;
  /** Whether deliveries to one receiver can travel together, so that they wait for their release. */
  readonly isBundled: boolean;
  /**
   * Finds the receivers of each event, in the order of the events, in the caller's transaction. The number of statements
   * does not depend on the number of events.
   */
  find(tx: Transaction, events: readonly NewEvent[]): Promise<readonly (readonly Receiver[])[]>;
}
