import type { Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import type { Clock } from "#shared/clock.ts";
import { tlsContext, tlsOptions } from "#control-plane/dispatch/grpc/credentials.ts";
import { createLedger, type NoPlace } from "#control-plane/dispatch/grpc/ledger.ts";
import type { ConnectionLimits } from "#control-plane/dispatch/grpc/limits.ts";
import { listenTcp } from "#control-plane/dispatch/grpc/listen-tcp.ts";
import type { Security } from "#control-plane/dispatch/security.ts";
import { addressGroup } from "#control-plane/limits/address.ts";

/**
 * Why a connection was not taken or was ended from this side. handshake, unattached: the time for it is over. protocol: no
 * HTTP/2. volume: a stranger sent too much or
 * called too often. displaced: its place went to a newer connection. refused: its call was.
 */
export type ConnectionEnd =
  | NoPlace
  | "displaced"
  | "handshake"
  | "protocol"
  | "unattached"
  | "volume"
  | "refused"
  | "silent";

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
export interface ConnectionOptions {
  readonly address: { readonly host: string; readonly port: number };
  readonly security: Pick<Security, "authority" | "identity">;
  readonly limits: ConnectionLimits;
  readonly clock: Clock;
  /** Takes over a connection that speaks HTTP/2, with a valid client certificate or without. */
  readonly serve: { agent(socket: TLSSocket): void; stranger(socket: TLSSocket): void };
  /** Told of each connection that is not taken or ended from this side. */
  readonly onEnd: (reason: ConnectionEnd, peer: string) => void;
}

interface Connection {
  readonly peer: string;
  readonly socket: Socket;
  isAgent: boolean;
  /** Calls begun over it. */
  calls: number;
  /** Streams attached over it. While there is one, the deadline does not count. */
  attached: number;
  /** Monotonic milliseconds, and why the connection ends then. */
  deadline: number;
  reason: ConnectionEnd;
}

/** Deadlines and volumes are looked at this often. */
const SWEEP_MS = 250;

/**
 * Listens for agents with TLS 1.3. Every client is asked for a certificate, and those without one get in, since enrolment
 * is theirs. Connections are counted before anything is spent on them, and each has a deadline until an agent is attached
 * over it. grpc-js has neither: its server accepts without bound, and an open call keeps its connection. Rejects where the
 * address cannot be bound.
 */
export async function acceptConnections(options: ConnectionOptions): Promise<AgentConnections> {
  const { security, limits, clock, serve, onEnd } = options;
  const ledger = createLedger(limits);
  const byPeer = new Map<string, Connection>();
  /** Those without an attached stream. */
  const pending = new Set<Connection>();

  function end(connection: Connection, reason: ConnectionEnd): void {
    onEnd(reason, connection.peer);
    forget(connection);
    connection.socket.resetAndDestroy();
  }

  function forget(connection: Connection): void {
    ledger.close(connection.peer);
    pending.delete(connection);
    if (byPeer.get(connection.peer) === connection) byPeer.delete(connection.peer);
  }

  const tls = createTlsServer(tlsOptions(security));
  security.identity.onRenew((renewed) => tls.setSecureContext(tlsContext(security.authority, renewed)));
  tls.on("tlsClientError", (_error, socket) => socket.destroy());
  tls.on("secureConnection", (socket) => {
    // Without a listener a reset by the client would be an uncaught exception; "close" reports the end of the session.
    socket.on("error", () => {});
    const connection = byPeer.get(peerOf(socket));
    if (connection === undefined) return void socket.destroy();
    if (socket.alpnProtocol !== "h2") return end(connection, "protocol");
    Object.assign(connection, { deadline: clock.monotonic() + limits.unattachedMs, reason: "unattached" });
    if (!socket.authorized) return serve.stranger(socket);
    const noPlace = ledger.identify(connection.peer, agentOf(socket));
    if (noPlace !== null) return end(connection, noPlace);
    connection.isAgent = true;
    serve.agent(socket);
  });

  function accept(socket: Socket): void {
    socket.on("error", () => {});
    const peer = peerOf(socket);
    const now = clock.monotonic();
    const place = byPeer.has(peer) ? null : ledger.open(peer, addressGroup(socket.remoteAddress ?? ""), now);
    if (place === null || !place.ok) {
      onEnd(place?.reason ?? "address", peer);
      return void socket.resetAndDestroy();
    }
    const displaced = place.displaced === null ? undefined : byPeer.get(place.displaced);
    if (displaced !== undefined) end(displaced, "displaced");
    const deadline = now + limits.handshakeMs;
    const connection: Connection = {
      peer,
      socket,
      isAgent: false,
      calls: 0,
      attached: 0,
      deadline,
      reason: "handshake",
    };
    byPeer.set(peer, connection);
    pending.add(connection);
    socket.once("close", () => forget(connection));
    tls.emit("connection", socket);
  }

  const listener = await listenTcp(options.address, accept);
  const sweep = setInterval(() => {
    const now = clock.monotonic();
    for (const connection of pending) {
      const { isAgent, socket, deadline, reason } = connection;
      if (now >= deadline) end(connection, reason);
      else if (!isAgent && socket.bytesRead > limits.strangerBytes) end(connection, "volume");
    }
  }, SWEEP_MS);
  sweep.unref();

  return {
    port: listener.port,
    counts: () => ledger.counts(),
    begin(peer) {
      const connection = byPeer.get(peer);
      if (connection === undefined || connection.isAgent) return;
      connection.calls += 1;
      if (connection.calls > limits.strangerCalls) end(connection, "volume");
    },
    attach(peer) {
      const connection = byPeer.get(peer);
      if (connection === undefined) return () => {};
      connection.attached += 1;
      pending.delete(connection);
      let isAttached = true;
      return () => {
        if (!isAttached) return;
        isAttached = false;
        connection.attached -= 1;
        if (connection.attached > 0 || byPeer.get(peer) !== connection) return;
        Object.assign(connection, { deadline: clock.monotonic() + limits.unattachedMs, reason: "unattached" });
        pending.add(connection);
      };
    },
    refuse(peer, reason = "refused") {
      const connection = byPeer.get(peer);
      if (connection === undefined) return;
      const deadline = clock.monotonic() + limits.refusedMs;
      if (deadline < connection.deadline) Object.assign(connection, { deadline, reason });
    },
    close() {
      listener.close();
    },
    destroy() {
      clearInterval(sweep);
      for (const { socket } of byPeer.values()) socket.destroy();
    },
  };
}

function peerOf({ remoteAddress, remotePort }: Pick<Socket, "remoteAddress" | "remotePort">): string {
  return `${remoteAddress}:${remotePort}`;
}

/** The authority issues a client certificate to one common name, the agent's id; TLS has verified the signature. */
function agentOf(socket: TLSSocket): string {
  return String(socket.getPeerCertificate().subject.CN);
}
