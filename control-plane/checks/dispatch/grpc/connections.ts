import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ServerHttp2Stream } from "node:http2";
import { createServer as createTlsServer, type Server as TlsServer, type TLSSocket } from "node:tls";
import type { Clock } from "#shared/time/clock.ts";
import {
  createConnectionTable,
  peerOf,
  type ConnectionEnd,
  type ConnectionTable,
} from "#control-plane/checks/dispatch/grpc/connection-table.ts";
import { tlsContext, tlsOptions } from "#control-plane/checks/dispatch/grpc/credentials.ts";
import type { ConnectionLimits } from "#control-plane/checks/dispatch/grpc/limits.ts";
import type { Security } from "#control-plane/checks/dispatch/security.ts";
import { lookup } from "node:dns/promises";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** The connections to the agents' port. A peer is "address:port", as in grpc-js. */
export interface AgentConnections {
  readonly port: number;
  counts(): { readonly strangers: number; readonly agents: number };
  /** Reports whether an agent is attached from another host. */
  hasRemoteAgents(): boolean;
  /**
   * Records that an agent is attached over this peer's connection: it has no deadline until the returned function is
   * called.
   */
  attach(peer: string): () => void;
  /**
   * Closes this peer's connection soon, unless an agent is attached over it. Call it when a call was refused or sent
   * nothing.
   */
  refuse(peer: string, reason?: "refused" | "silent"): void;
  /** Accepts no more connections. Open ones stay. */
  close(): void;
  /** Ends every connection. */
  destroy(): void;
}

/** Options of the connections. */
interface ConnectionOptions {
  readonly address: { readonly host: string; readonly port: number };
  readonly security: Pick<Security, "identity">;
  readonly limits: ConnectionLimits;
  readonly clock: Clock;
  /** Functions that serve an HTTP/2 connection, with a valid client certificate or without. */
  readonly serve: { agent(socket: TLSSocket): void; stranger(socket: TLSSocket): void };
  /** Called for each connection that this side refuses or closes. */
  readonly onEnd: (reason: ConnectionEnd, peer: string) => void;
}

/** Channel of node:http2 on which it publishes every stream that a client begins, before anything handles it. */
const STREAM_BEGINS = "http2.server.stream.created";

/** Interval in milliseconds between two checks of deadlines and volumes. */
const SWEEP_MS = 250;

/**
 * Listens for agents with TLS 1.3. It requests a certificate from every client, but also accepts clients without one,
 * because they need Enroll. Connections are counted before they use other resources, and each has a deadline until an
 * agent is attached over it. grpc-js has neither: its server accepts without limit, and an open call keeps its
 * connection open. Rejects if the address cannot be bound.
 */
export async function acceptConnections(options: ConnectionOptions): Promise<AgentConnections> {
  const { address, security, serve } = options;
  const table = createConnectionTable(options);
  const tls = openTls(security, (socket) => routeSecured(table, serve, socket));
  const listener = await listenTcp(address, (socket) => {
    socket.on("error", () => {});
    if (table.open(socket) !== null) tls.emit("connection", socket);
  });
  // grpc-js shows calls alone: of a stream that is reset at once, or that is no call, it reports nothing.
  const countStream = (message: unknown): void => {
    const { session } = (message as { readonly stream: ServerHttp2Stream }).stream;
    if (session?.socket.localPort !== listener.port) return;
    const connection = table.find(peerOf(session.socket));
    if (connection === undefined || table.countStream(connection)) return;
    // Refuses the streams that have arrived together with this one. grpc-js is about to handle it, and would throw if the
    // session were destroyed before.
    session.close();
    setImmediate(() => connection.socket.resetAndDestroy());
  };
  subscribe(STREAM_BEGINS, countStream);
  const sweep = setInterval(() => table.endOverdue(), SWEEP_MS);
  sweep.unref();

  return {
    port: listener.port,
    counts: () => table.counts(),
    hasRemoteAgents: () => table.hasRemoteAgents(),
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
      unsubscribe(STREAM_BEGINS, countStream);
      table.destroy();
    },
  };
}

/** Creates a TLS server without a port, which gets its sockets from the caller. It uses renewed certificates. */
function openTls(security: ConnectionOptions["security"], onSecured: (socket: TLSSocket) => void): TlsServer {
  const tls = createTlsServer(tlsOptions(security));
  security.identity.onRenew((renewed) => tls.setSecureContext(tlsContext(renewed)));
  tls.on("tlsClientError", (_error, socket) => socket.destroy());
  tls.on("secureConnection", onSecured);
  return tls;
}

/** Passes a connection after its handshake to the server for agents or to the server for strangers. */
function routeSecured(table: ConnectionTable, serve: ConnectionOptions["serve"], socket: TLSSocket): void {
  // Without a listener a reset by the client would be an uncaught exception; "close" reports the end of the session.
  socket.on("error", () => {});
  const connection = table.find(peerOf(socket));
  if (connection === undefined) return void socket.destroy();
  if (!table.secure(connection, !socket.authorized)) return;
  if (socket.alpnProtocol !== "h2") return table.end(connection, "protocol");
  if (!socket.authorized) return serve.stranger(socket);
  if (table.identify(connection, agentOf(socket))) serve.agent(socket);
}

/** Returns the agent's id, which is the common name of its client certificate. TLS has verified the signature. */
function agentOf(socket: TLSSocket): string {
  return String(socket.getPeerCertificate().subject.CN);
}

/** Open listening sockets of one port. */
interface TcpListener {
  readonly port: number;
  /** Accepts no more connections. */
  close(): void;
}

/**
 * Listens on every address of a host: a name such as localhost can have an IPv4 and an IPv6 address. Rejects if none of
 * them can be bound. Port 0 selects a free port, the same for all addresses.
 */
async function listenTcp(
  { host, port }: { readonly host: string; readonly port: number },
  onConnection: (socket: Socket) => void,
): Promise<TcpListener> {
  const servers: Server[] = [];
  let bound = port;
  let failure: unknown = new Error(`${host} has no address`);
  for (const { address } of await lookup(host, { all: true })) {
    try {
      const server = await bind(address, bound, onConnection);
      servers.push(server);
      bound = (server.address() as AddressInfo).port;
    } catch (error) {
      failure = error;
    }
  }
  if (servers.length === 0) throw failure;
  return {
    port: bound,
    close() {
      for (const server of servers) server.close();
    },
  };
}

function bind(host: string, port: number, onConnection: (socket: Socket) => void): Promise<Server> {
  const server = createServer({ noDelay: true }, onConnection);
  return new Promise((resolve, reject) => {
    server.once("error", reject).listen({ host, port }, () => {
      server.off("error", reject);
      resolve(server);
    });
  });
}
