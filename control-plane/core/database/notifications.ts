import type { Sql } from "#control-plane/core/database/connect.ts";

/** Messages between replicas: PostgreSQL's LISTEN and NOTIFY on a separate connection. */
export interface Notifications {
  /**
   * Calls `onMessage` for each payload on the channel. Calls `onReset` at the start and after each reconnect: messages
   * sent before that are lost, so the listener must read the state again. Returns immediately, and keeps trying while
   * the database is away.
   */
  listen(channel: string, onMessage: (payload: string) => void, onReset: () => void): void;
}

/** Opens notifications that use a client until it is closed. */
export function createNotifications(sql: Sql): Notifications {
  return {
    listen(channel, onMessage, onReset) {
      // A failed attempt can be ignored: its connection closes, and postgres.js then listens again by itself.
      sql.listen(channel, onMessage, onReset).catch(() => {});
    },
  };
}
