import type { Server } from "node:http";
import { Counter, type Registry } from "prom-client";
import type { Clock } from "#shared/clock.ts";

/** Idle connections are cleared at most this often, milliseconds: it takes a look at each of them. */
const CLEAR_EVERY_MS = 1_000;

/**
 * Holds at most `most` connections. The one too many is closed, and with it every connection that waits idle between two
 * requests, so that connections kept open for nothing do not keep callers out.
 */
export function boundConnections(
  server: Pick<Server, "maxConnections" | "on" | "closeIdleConnections">,
  most: number,
  { clock, registry }: { readonly clock: Clock; readonly registry: Registry },
): void {
  const refused = new Counter({
    name: "vantage_http_connections_refused_total",
    help: "Connections to the HTTP port closed at once because the port held as many as it may",
    registers: [registry],
  });
  let clearedAt = -Infinity;
  server.maxConnections = most;
  server.on("drop", () => {
    refused.inc();
    const now = clock.monotonic();
    if (now - clearedAt < CLEAR_EVERY_MS) return;
    clearedAt = now;
    server.closeIdleConnections();
  });
}
