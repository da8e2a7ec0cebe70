import type { Sql } from "#control-plane/core/database/connect.ts";

/**
 * Ends a client, and breaks after a second what still runs on it: a listener never ends by itself, nor does a statement
 * that waits for a server that a test has taken away.
 */
export function endClient(client: Sql): Promise<void> {
  return client.end({ timeout: 1 });
}
