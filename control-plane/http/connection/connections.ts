import type { Server } from "node:http";
import type { Socket } from "node:net";
import { Counter, type Registry } from "prom-client";
import type { Clock } from "#shared/clock.ts";

/** Connections are cleared at most this often, milliseconds: it takes a look at each of them. */
const CLEAR_EVERY_MS = 1_000;
/** A connection that has sent no request this long after it was opened, milliseconds, gives way where the port is full. */
const SILENT_AFTER_MS = 1_000;

/**
 * Holds at most `most` connections. The one too many is closed, and with it every connection that waits idle between two
 * requests or has not sent its first one, so that connections kept open for nothing do not keep callers out.
 */
export function boundConnections(
  server: Pick<Server, "maxConnections" | "on" | "closeIdleConnections">,
  most: number,
  { clock, registry }: { readonly clock: Clock; readonly registry: Registry },
): void {
  const refused = new Counter({
    name: "vantage_http_connections_refused_total",
    help: "Connections to the HTTP port closed on arrival because the limit of open connections was reached",
    registers: [registry],
  });
  /** Connections without a request so far, by peer: with TLS a request comes over another socket object. */
  const silent = new Map<string, { readonly socket: Socket; readonly openedAt: number }>();
  let clearedAt = -Infinity;
  server.maxConnections = most;
  server.on("connection", (socket: Socket) => {
    const peer = peerOf(socket);
    silent.set(peer, { socket, openedAt: clock.monotonic() });
    socket.once("close", () => {
      if (silent.get(peer)?.socket === socket) silent.delete(peer);
    });
  });
  server.on("request", (request) => void silent.delete(peerOf(request.socket)));
  server.on("drop", () => {
    refused.inc();
    const now = clock.monotonic();
    if (now - clearedAt < CLEAR_EVERY_MS) return;
    clearedAt = now;
    server.closeIdleConnections();
    for (const { socket, openedAt } of silent.values()) if (now - openedAt >= SILENT_AFTER_MS) socket.destroy();
  });
}

function peerOf({ remoteAddress, remotePort }: Pick<Socket, "remoteAddress" | "remotePort">): string {
  return `${remoteAddress}:${remotePort}`;
}
