/** What a run of the delivery of webhooks left behind. All times are Unix milliseconds by the clock of this host. */
export interface WebhookHistory {
  /** Delays before the attempts, milliseconds. */
  readonly schedule: readonly number[];
  readonly subscriptions: readonly Subscription[];
  readonly pings: readonly AnsweredPing[];
  readonly faults: readonly Fault[];
  /** In the order of their arrival. */
  readonly arrivals: readonly Arrival[];
  readonly events: readonly EventRow[];
  readonly deliveries: readonly DeliveryRow[];
  readonly attempts: readonly AttemptRow[];
}

/** A subscription and how it was changed. Its changes do not overlap. */
export interface Subscription {
  readonly id: number;
  /** Whether its receiver always answers with 204 in time. */
  readonly isSound: boolean;
  readonly changes: readonly SubscriptionChange[];
  readonly secrets: readonly KnownSecret[];
}

/** A change of a subscription: it took effect at a moment between the request and the answer. */
export interface SubscriptionChange {
  readonly from: number;
  readonly to: number;
  /** Whether it is active afterwards; null: that is not known until the next change. */
  readonly isActive: boolean | null;
}

/** A secret, and when it became the present one: between two moments. */
export interface KnownSecret {
  readonly secret: string;
  readonly from: number;
  readonly to: number;
}

/** A ping that changed the status of a heartbeat and was answered with 200. */
export interface AnsweredPing {
  readonly monitorId: number;
  readonly status: "down" | "up";
  readonly answeredAt: number;
}

/** A fault. process: replicas were killed. database: connections or the server were lost. */
export interface Fault {
  readonly kind: "process" | "database";
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** A request that a receiver got. */
export interface Arrival {
  readonly deliveryId: number;
  readonly attempt: number;
  readonly eventId: string;
  readonly type: string;
  readonly body: string;
  /** X-Service-Timestamp, Unix seconds. */
  readonly timestamp: number;
  readonly v2: string;
  readonly v2Previous: string | null;
  readonly standard: string;
  readonly arrivedAt: number;
  /** Status of the answer, and when it was sent whole; null if it was not. */
  readonly status: number | null;
  readonly answeredAt: number | null;
  /** Seconds of Retry-After. */
  readonly retryAfter: number | null;
}

/** An event in the database. */
export interface EventRow {
  readonly id: string;
  readonly monitorId: number;
  readonly type: string;
  readonly body: string;
  readonly createdAt: number;
  readonly committedAt: number;
}

/** A delivery in the database. */
export interface DeliveryRow {
  readonly id: number;
  readonly eventId: string;
  readonly webhookId: number;
  /** The delivery that it repeats; null if it was made with the event. */
  readonly replayOf: number | null;
  readonly status: string;
  readonly attempts: number;
  readonly errorCode: string | null;
  readonly createdAt: number;
  readonly deliveredAt: number | null;
}

/** An attempt in the database. */
export interface AttemptRow {
  readonly deliveryId: number;
  readonly attempt: number;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly code: number | null;
  readonly errorCode: string | null;
}

/** Something that must not be. */
export interface Finding {
  readonly rule: string;
  readonly about: unknown;
}
