import type { DeliveryStatus } from "#control-plane/notify/deliveries/delivery.ts";

/** A delivery of a webhook as its log has it. */
export interface LoggedDelivery {
  readonly id: number;
  readonly receiverId: number;
  readonly eventId: string;
  readonly eventType: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly responseCode: number | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly durationMs: number | null;
  readonly nextAttemptAt: Date | null;
  readonly replayOf: number | null;
  /** What the provider calls the message; null if it has not said. */
  readonly providerRef: string | null;
  readonly createdAt: Date;
  readonly deliveredAt: Date | null;
}

/** An attempt as the log has it. */
export interface LoggedAttempt {
  readonly attempt: number;
  readonly startedAt: Date;
  /** null if it is in progress. */
  readonly endedAt: Date | null;
  readonly responseCode: number | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  /** JSON of the header fields. */
  readonly responseHeaders: string | null;
  readonly responseBody: string | null;
  readonly truncated: boolean | null;
}

/** Filter of the log; an absent field matches every delivery. */
export interface LogFilter {
  readonly receiverId?: number | undefined;
  readonly eventType?: string | undefined;
  readonly status?: DeliveryStatus | undefined;
}
