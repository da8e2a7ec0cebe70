import type { EventType } from "#control-plane/notify/events/event.ts";
import type { Refusal } from "#control-plane/notify/webhooks/formats/refusal.ts";

/** An event as receivers get it. */
export interface FormatEvent {
  readonly id: string;
  readonly type: EventType;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
  /** The standard body: exact JSON bytes. */
  readonly body: string;
  /** Its field `data`. */
  readonly data: unknown;
}

/** What a provider needs beside its address. */
export interface FormatOption {
  readonly name: string;
  readonly required: boolean;
  /** Whether answers mask it. */
  readonly secret: boolean;
  /** What it is and where to find it, without a full stop. */
  readonly description: string;
  /** Checks a value of bounded length, in linear time. Returns null if it is good, what is allowed if not. */
  check(value: string): string | null;
}

/** Where an event is sent. */
export interface FormatTarget {
  /** Address that the account wrote: of the receiver, or the provider's base. */
  readonly url: string;
  /** The format's options by name, checked. */
  readonly options: Readonly<Record<string, string>>;
  /** Address of the service, for links; null if there is none. */
  readonly pageUrl: string | null;
  /** Writes the key of an alert (formats/dedup.ts) as the provider gets it: no other installation has the same. */
  keyOf(key: string): string;
}

/** A POST request to send. */
export interface FormatRequest {
  readonly url: string;
  /** With content-type. Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How events are sent to one provider. */
export interface Format {
  /** As subscriptions name it: its key in FORMATS. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  readonly options: readonly FormatOption[];
  /**
   * Whether the provider keeps an alert open until an event resolves it. An event that is attempted again after a later
   * one about the same alert is not sent: it would open an alert that is over, or end one that is not.
   */
  readonly keepsAlerts?: true;
  /** The end that the provider has announced. Absent: none. */
  readonly end?: {
    /** ISO 8601 date. */
    readonly on: string;
    /** The format that takes its place. */
    readonly successor: string;
  };
  /**
   * Returns the provider's id of the message or alert, from the beginning of the body of its answer (at most 4 KB); null
   * if there is none. Absent: the provider's answers have none. Pure.
   */
  readonly reference?: (bodyStart: string) => string | null;
  /**
   * Returns how the provider refuses a message by the beginning of the body (at most 4 KB) of an answer whose status is
   * success; null if it takes the message. What is not known is no refusal. Absent: the status says all. Pure.
   */
  readonly refusal?: (bodyStart: string) => Refusal | null;
  /** Builds the request of an event. Pure: every attempt sends the same bytes. */
  build(event: FormatEvent, target: FormatTarget): FormatRequest;
}

/** Header of a request whose body is JSON. */
export const JSON_HEADERS: FormatRequest["headers"] = { "content-type": "application/json" };
