import type { Random } from "#shared/time/clock.ts";
import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import type { Channel } from "#control-plane/notify/deliveries/delivery.ts";
import type { EventFacts, NewEvent, Receiver, ReceiverSource } from "#control-plane/notify/events/event.ts";
import {
  findEvent,
  insertEvents,
  listEvents,
  type StoredEvent,
  type Wait,
} from "#control-plane/notify/events/store.ts";

/** Events: what receivers are informed of. */
export interface Events {
  /**
   * Stores events and the deliveries to everyone who gets them, in the caller's transaction. The queues start sending
   * within milliseconds of its commit. Returns the ids of the events, in their order.
   */
  publish(tx: Transaction, events: readonly NewEvent[]): Promise<readonly string[]>;
  /** Finds the type and the body of an event of an account; null if it has none with this id. */
  find(sql: Queryable, accountId: number, id: string): Promise<{ readonly type: string; readonly body: string } | null>;
  /** Returns the account's events for its data export. */
  export(sql: Queryable, accountId: number): Promise<unknown>;
}

const ID_BYTES = 15;
const API_VERSION = "4.0";
const MOST_EXPORTED = 10_000;

/** Creates the events of one replica. `sources` find the receivers, one source for each channel. */
export function createEvents({
  random,
  sources,
}: {
  readonly random: Random;
  readonly sources: readonly ReceiverSource[];
}): Events {
  return {
    async publish(tx, events) {
      if (events.length === 0) return [];
      const receivers = events.map((): AddressedEvent["receivers"][number][] => []);
      for (const source of sources) {
        const { channel, isBundled } = source;
        for (const [index, found] of (await source.find(tx, events)).entries()) {
          const event = events[index];
          if (event === undefined) continue;
          receivers[index]?.push(
            ...found.map((one) => ({ ...one, channel, isReleased: !isBundled, wait: waitOf(event, channel, one) })),
          );
        }
      }
      const addressed = events.map((event, index) => ({ event, receivers: receivers[index] ?? [] }));
      return storeEvents(tx, random, addressed);
    },
    find: findEvent,
    async export(sql, accountId) {
      const bodies = await listEvents(sql, accountId, MOST_EXPORTED);
      return bodies.map((body) => JSON.parse(body) as unknown);
    },
  };
}

function waitOf(event: NewEvent, channel: Channel, { waitMs = null }: Receiver): Wait | null {
  if (waitMs !== null) return { until: new Date(event.createdAt.getTime() + waitMs), for: "visitors" };
  const until = channel === "mail" ? event.mailWaitsUntil : undefined;
  return until === undefined ? null : { until, for: "evidence" };
}

/** An event with its receivers. */
interface AddressedEvent {
  readonly event: EventFacts;
  readonly receivers: readonly (Receiver & {
    readonly channel: Channel;
    /** Whether it is sent immediately, without waiting for others to the same receiver. */
    readonly isReleased: boolean;
    /** Until when it waits, and for what. */
    readonly wait?: Wait | null;
  })[];
}

/** Stores events whose receivers are known. Returns the ids of the events, in their order. */
export async function storeEvents(
  tx: Transaction,
  random: Random,
  addressed: readonly AddressedEvent[],
): Promise<readonly string[]> {
  const events = addressed.map(({ event }) => toStored(event, random));
  const deliveries = addressed.flatMap(({ receivers }, event) =>
    receivers.map((receiver) => ({ wait: null, ...receiver, event })),
  );
  await insertEvents(tx, events, deliveries);
  return events.map(({ id }) => id);
}

/** Gives an event its id and its body. */
function toStored({ type, data, ...event }: EventFacts, random: Random): StoredEvent {
  const id = `evt_${Buffer.from(random.bytes(ID_BYTES)).toString("base64url")}`;
  const body = { id, type, created_at: event.createdAt.toISOString(), api_version: API_VERSION, data };
  return { ...event, id, type, body: JSON.stringify(body) };
}
