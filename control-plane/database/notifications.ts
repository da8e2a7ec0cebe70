import type { Sql } from "#control-plane/database/connect.ts";

/** Messages between replicas: PostgreSQL's LISTEN and NOTIFY on one connection of its own. */
export interface Notifications {
  /**
   * Calls `onMessage` for each payload on the channel. `onReset` is called at the start and after each reconnect:
   * whatever was sent meanwhile is lost, so look again. Returns at once; while the database is away it keeps trying.
   */
  listen(channel: string, onMessage: (payload: string) => void, onReset: () => void): void;
}

/** Listens through a client, until that client is closed. */
export function createNotifications(sql: Sql): Notifications {
  return {
    listen(channel, onMessage, onReset) {
      // A failed attempt is no news: its connection closes, and on that postgres.js listens again by itself.
      sql.listen(channel, onMessage, onReset).catch(() => {});
    },
  };
}
