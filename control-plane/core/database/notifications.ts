import type { Sql } from "#control-plane/core/database/connect.ts";
import type { Timers } from "#control-plane/core/timers.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";

/** Messages between replicas: PostgreSQL's LISTEN and NOTIFY on a separate connection. */
export interface Notifications {
  /**
   * Calls `onMessage` for each payload on the channel. Calls `onReset` at the start and after each reconnect: messages
   * sent before that are lost, so the listener must read the state again. Returns immediately, and keeps trying while
   * the database is away.
   */
  listen(channel: string, onMessage: (payload: string) => void, onReset: () => void): void;
}

/** The notifications of a replica. */
export interface OwnNotifications extends Notifications {
  /**
   * Sends a message of this replica with `notify`, and reports whether it arrives: through a pooler that shares connections
   * between transactions, none does. Rejects if `notify` does.
   */
  arrive(replicaId: string, notify: (channel: string, payload: string) => Promise<void>): Promise<boolean>;
}

/** Channel of messages that a replica sends to itself. */
const ECHO_CHANNEL = "vantage_echo";
const ECHO_MS = 2_000;

/** Opens notifications that use a client until it is closed. A message, or a reconnect, ends the rest of `timers`. */
export function createNotifications(sql: Sql, timers: Pick<Timers, "wake">): OwnNotifications {
  let echoes: Map<string, () => void> | null = null;
  let sent = 0;

  function listen(channel: string, onMessage: (payload: string) => void, onReset: () => void): void {
    // A failed attempt can be ignored: its connection closes, and postgres.js then listens again by itself.
    sql.listen(channel, onMessage, onReset).catch(() => {});
  }

  return {
    listen(channel, onMessage, onReset) {
      listen(
        channel,
        (payload) => {
          timers.wake();
          onMessage(payload);
        },
        () => {
          // What was lost can have made something due.
          timers.wake();
          onReset();
        },
      );
    },
    async arrive(replicaId, notify) {
      if (echoes === null) {
        echoes = new Map();
        listen(
          ECHO_CHANNEL,
          (payload) => echoes?.get(payload)?.(),
          () => {},
        );
      }
      sent += 1;
      const payload = `${replicaId} ${sent}`;
      const arrived = Promise.withResolvers<boolean>();
      echoes.set(payload, () => arrived.resolve(true));
      try {
        await notify(ECHO_CHANNEL, payload);
        return await waitAtMost(ECHO_MS, arrived.promise, false);
      } finally {
        echoes.delete(payload);
      }
    },
  };
}
