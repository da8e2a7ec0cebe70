/** How deliveries travel. page: mail to a subscriber of a status page. */
export const CHANNELS = ["mail", "page", "webhook"] as const;
/** One of these ways. */
export type Channel = (typeof CHANNELS)[number];

/** Progress of a delivery. delivered, failed and dead are final. */
export type DeliveryStatus = "pending" | "retrying" | "delivered" | "failed" | "dead";

/** PostgreSQL notification channel. The name of a queue's channel is sent on it when deliveries were inserted. */
export const DELIVERIES_CHANNEL = "vantage_deliveries";

/** An event as it is sent. */
export interface SentEvent {
  readonly id: string;
  readonly type: string;
  /** JSON; the same bytes on every attempt. */
  readonly body: string;
}

/** A delivery whose next attempt this replica has claimed. */
export interface ClaimedDelivery {
  readonly id: number;
  readonly accountId: number;
  readonly channel: Channel;
  readonly receiverId: number;
  /** Address of a mail; null for webhooks. */
  readonly recipient: string | null;
  /** Number of this attempt, from 1. */
  readonly attempt: number;
  /** When this attempt was claimed. */
  readonly startedAt: Date;
  /** Whether the last attempt for this receiver failed, so that it has this one alone. */
  readonly isProbe: boolean;
  readonly createdAt: Date;
  /** The events of the message, oldest first, at most MOST_EVENTS. A webhook has one. */
  readonly events: readonly [SentEvent, ...SentEvent[]];
  /** Number of events that the message reports, also those beyond MOST_EVENTS. */
  readonly count: number;
}

/** Maximum number of events that a sender gets for one message. */
export const MOST_EVENTS = 100;

/** What the receiver answered, as far as it did. */
interface Answer {
  /** HTTP status or SMTP reply code; null without an answer. */
  readonly responseCode: number | null;
  /** JSON of the header fields. */
  readonly responseHeaders?: string;
  /** Beginning of the body, text without NUL. */
  readonly responseBody?: string;
  /** Whether the body was longer. */
  readonly isTruncated?: boolean;
}

/** Why an attempt failed. */
interface AttemptFault {
  /** A stable snake_case word. */
  readonly code: string;
  /** For people; one line without secrets. */
  readonly message: string;
}

/** Result of one attempt. */
export type Outcome =
  /** `providerRef`: what the provider calls the message; null or absent: it does not say. */
  | (Answer & { readonly kind: "delivered"; readonly providerRef?: string | null })
  /** A later attempt can succeed. `waitMs`: how long the receiver asked to wait. */
  | (Answer & AttemptFault & { readonly kind: "retry"; readonly waitMs?: number })
  /** No attempt can succeed. `isOwn`: for a reason of the service, which shows nothing about the receiver. */
  | (Answer & AttemptFault & { readonly kind: "refused"; readonly isOwn?: true });

/** Sends the deliveries of one channel. */
export interface Sender {
  readonly channel: Channel;
  /** Delays in milliseconds: before the first attempt, and from the end of each attempt to the next one. */
  readonly schedule: readonly number[];
  /** Time limit of one attempt, milliseconds. */
  readonly timeoutMs: number;
  /** Maximum number of attempts at the same time, of this replica. */
  readonly concurrency: number;
  /** The same for one receiver, so that one that hangs delays no other. */
  readonly perReceiver: number;
  /**
   * Maximum number of attempts at the same time for receivers whose last attempt failed: each of them has one at a time.
   * null: what fails says nothing about the receiver.
   */
  readonly probes: number | null;
  /** Whether it is noted since when the attempts for a receiver fail, also without probes. */
  readonly notesFailures?: true;
  /** Does what must precede the next claim, such as inserting deliveries. Rejects while the database is away. */
  prepare?(): Promise<void>;
  /**
   * Makes one attempt. Resolves soon after `signal` is aborted, because the time is up or the process stops. A rejection
   * is a bug; the attempt then counts as failed.
   */
  send(delivery: ClaimedDelivery, signal: AbortSignal): Promise<Outcome>;
}

/** Which mails keep failing: of those whose receiver has got none for some time, those that wait or died. */
export interface FailingQuery {
  /** The first failure after the last success of the receiver is not later. */
  readonly failingBefore: Date;
  /** Earliest creation of one that died. */
  readonly since: Date;
  /** Codes of faults that are over when any other mail has been delivered. */
  readonly serverFaults: readonly string[];
  /** Maximum number of ids of monitors. */
  readonly mostIds: number;
}

/** Mails that keep failing. */
export interface FailingDeliveries {
  /** Number of messages. */
  readonly deliveries: number;
  /** Number of monitors that they are about, and the smallest ids. */
  readonly monitorCount: number;
  readonly monitorIds: readonly number[];
  /** What failed in the newest of them; null if there are none. */
  readonly error: string | null;
}
