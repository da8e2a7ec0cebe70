import type { Server } from "node:http";
import type { Socket } from "node:net";
import { Counter, type Registry } from "prom-client";
import type { Clock } from "#shared/time/clock.ts";

/** Minimum interval in milliseconds between two sweeps of all connections. */
const CLEAR_EVERY_MS = 1_000;
/** Age in milliseconds from which a connection without a request can be closed if the limit is reached. */
const SILENT_AFTER_MS = 1_000;

/**
 * Limits the open connections to `most`. A connection above it is closed, together with every connection that is idle
 * or has sent no request yet, so that unused connections do not block callers.
 */
export function limitConnections(
  server: Pick<Server, "maxConnections" | "on" | "closeIdleConnections">,
  most: number,
  { clock, registry }: { readonly clock: Clock; readonly registry: Registry },
): void {
  const refused = new Counter({
    name: "vantage_http_connections_refused_total",
    help: "Connections to the HTTP port closed on arrival because the limit of open connections was reached",
    registers: [registry],
  });
  /** Connections without a request so far, by peer: with TLS, requests have a different socket object. */
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
