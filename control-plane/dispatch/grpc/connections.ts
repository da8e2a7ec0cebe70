import { createServer as createTlsServer, type Server as TlsServer, type TLSSocket } from "node:tls";
import type { Clock } from "#shared/clock.ts";
import {
  createConnectionTable,
  peerOf,
  type ConnectionEnd,
  type ConnectionTable,
} from "#control-plane/dispatch/grpc/connection-table.ts";
import { tlsContext, tlsOptions } from "#control-plane/dispatch/grpc/credentials.ts";
import type { ConnectionLimits } from "#control-plane/dispatch/grpc/limits.ts";
import { listenTcp } from "#control-plane/dispatch/grpc/listen-tcp.ts";
import type { Security } from "#control-plane/dispatch/security.ts";

/** The connections of the agents' port. A peer is "address:port", as grpc-js names it. */
export interface AgentConnections {
  readonly port: number;
  counts(): { readonly strangers: number; readonly agents: number };
  /** A call of this peer has begun. */
  begin(peer: string): void;
  /** An agent is attached over this peer's connection, which has no deadline until the returned function is called. */
  attach(peer: string): () => void;
  /** A call of this peer was refused or came to nothing: its connection is closed soon unless an agent is attached over it. */
  refuse(peer: string, reason?: "refused" | "silent"): void;
  /** Takes no more connections; open ones stay. */
  close(): void;
  /** Ends every connection. */
  destroy(): void;
}

/** What taking connections needs. */
interface ConnectionOptions {
  readonly address: { readonly host: string; readonly port: number };
  readonly security: Pick<Security, "authority" | "identity">;
  readonly limits: ConnectionLimits;
  readonly clock: Clock;
  /** Takes over a connection that speaks HTTP/2, with a valid client certificate or without. */
  readonly serve: { agent(socket: TLSSocket): void; stranger(socket: TLSSocket): void };
  /** Called for each connection that is not taken or ended from this side. */
  readonly onEnd: (reason: ConnectionEnd, peer: string) => void;
}

/** Milliseconds between two sweeps for deadlines and volumes. */
const SWEEP_MS = 250;

/**
 * Listens for agents with TLS 1.3. Every client is asked for a certificate, and those without one get in, since enrolment
 * is theirs. Connections are counted before anything is spent on them, and each has a deadline until an agent is attached
 * over it. grpc-js has neither: its server accepts without bound, and an open call keeps its connection. Rejects where the
 * address cannot be bound.
 */
export async function acceptConnections(options: ConnectionOptions): Promise<AgentConnections> {
  const { address, security, serve } = options;
  const table = createConnectionTable(options);
  const tls = openTls(security, (socket) => routeSecured(table, serve, socket));
  const listener = await listenTcp(address, (socket) => {
    socket.on("error", () => {});
    if (table.open(socket) !== null) tls.emit("connection", socket);
  });
  const sweep = setInterval(() => table.endOverdue(), SWEEP_MS);
  sweep.unref();

  return {
    port: listener.port,
    counts: () => table.counts(),
    begin(peer) {
      const connection = table.find(peer);
      if (connection !== undefined) table.countCall(connection);
    },
    attach(peer) {
      const connection = table.find(peer);
      return connection === undefined ? () => {} : table.attach(connection);
    },
    refuse(peer, reason = "refused") {
      const connection = table.find(peer);
      if (connection !== undefined) table.endSoon(connection, reason);
    },
    close() {
      listener.close();
    },
    destroy() {
      clearInterval(sweep);
      table.destroy();
    },
  };
}

/** A TLS server that listens on no port: sockets are handed to it. Its certificate follows renewals. */
function openTls(security: ConnectionOptions["security"], onSecured: (socket: TLSSocket) => void): TlsServer {
  const tls = createTlsServer(tlsOptions(security));
  security.identity.onRenew((renewed) => tls.setSecureContext(tlsContext(security.authority, renewed)));
  tls.on("tlsClientError", (_error, socket) => socket.destroy());
  tls.on("secureConnection", onSecured);
  return tls;
}

/** Gives a connection whose handshake is done to the server for agents or the one for strangers. */
function routeSecured(table: ConnectionTable, serve: ConnectionOptions["serve"], socket: TLSSocket): void {
  // Without a listener a reset by the client would be an uncaught exception; "close" reports the end of the session.
  socket.on("error", () => {});
  const connection = table.find(peerOf(socket));
  if (connection === undefined) return void socket.destroy();
  if (socket.alpnProtocol !== "h2") return table.end(connection, "protocol");
  table.expectAttachment(connection);
  if (!socket.authorized) return serve.stranger(socket);
  if (table.identify(connection, agentOf(socket))) serve.agent(socket);
}

/** The authority issues a client certificate to one common name, the agent's id; TLS has verified the signature. */
function agentOf(socket: TLSSocket): string {
  return String(socket.getPeerCertificate().subject.CN);
}
