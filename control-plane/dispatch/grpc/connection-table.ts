import type { Socket } from "node:net";
import type { Clock } from "#shared/clock.ts";
import { createLedger, type NoPlace } from "#control-plane/dispatch/grpc/ledger.ts";
import type { ConnectionLimits } from "#control-plane/dispatch/grpc/limits.ts";
import { addressGroup } from "#control-plane/limits/address.ts";

/**
 * Why a connection was not taken or was ended from this side. handshake, unattached: its time is over. protocol: it does
 * not speak HTTP/2. volume: a stranger sent too much or called too often. displaced: a newer connection has its place.
 * refused: its call was refused. silent: its call never sent a message.
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

/** An open connection. */
interface Connection {
  /** "address:port", as grpc-js names it. */
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

/** The open connections of the agents' port, each with a deadline until an agent is attached over it. */
export interface ConnectionTable {
  find(peer: string): Connection | undefined;
  /** Takes a new socket in; null: it has no place and was reset. */
  open(socket: Socket): Connection | null;
  /** The TLS handshake is done: the connection has until its deadline to attach an agent. */
  expectAttachment(connection: Connection): void;
  /** The connection has shown a valid certificate of this agent; false: it has no place among the agents and was reset. */
  identify(connection: Connection, agent: string): boolean;
  /** Counts a call; a stranger that calls too often is reset. */
  countCall(connection: Connection): void;
  /** An agent is attached over the connection until the returned function is called. */
  attach(connection: Connection): () => void;
  /** The connection is to end in a moment, unless an agent is attached over it. */
  endSoon(connection: Connection, reason: "refused" | "silent"): void;
  /** Resets the connection. */
  end(connection: Connection, reason: ConnectionEnd): void;
  /** Resets connections past their deadline, and strangers that sent too much. */
  endOverdue(): void;
  /** Destroys every socket. */
  destroy(): void;
  counts(): { readonly strangers: number; readonly agents: number };
}

/** What a table needs. */
interface ConnectionTableDeps {
  readonly limits: ConnectionLimits;
  readonly clock: Pick<Clock, "monotonic">;
  /** Called for each connection that is not taken or ended from this side. */
  readonly onEnd: (reason: ConnectionEnd, peer: string) => void;
}

/** An empty table. */
export function createConnectionTable({ limits, clock, onEnd }: ConnectionTableDeps): ConnectionTable {
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

  function expectAttachment(connection: Connection): void {
    Object.assign(connection, { deadline: clock.monotonic() + limits.unattachedMs, reason: "unattached" });
  }

  function detach(connection: Connection): void {
    connection.attached -= 1;
    if (connection.attached > 0 || byPeer.get(connection.peer) !== connection) return;
    expectAttachment(connection);
    pending.add(connection);
  }

  return {
    find: (peer) => byPeer.get(peer),
    open(socket) {
      const peer = peerOf(socket);
      const now = clock.monotonic();
      const place = byPeer.has(peer) ? null : ledger.open(peer, addressGroup(socket.remoteAddress ?? ""), now);
      if (place === null || !place.ok) {
        onEnd(place?.reason ?? "address", peer);
        socket.resetAndDestroy();
        return null;
      }
      const displaced = place.displaced === null ? undefined : byPeer.get(place.displaced);
      if (displaced !== undefined) end(displaced, "displaced");
      const connection = newConnection(peer, socket, now + limits.handshakeMs);
      byPeer.set(peer, connection);
      pending.add(connection);
      socket.once("close", () => forget(connection));
      return connection;
    },
    expectAttachment,
    identify(connection, agent) {
      const noPlace = ledger.identify(connection.peer, agent);
      if (noPlace === null) connection.isAgent = true;
      else end(connection, noPlace);
      return noPlace === null;
    },
    countCall(connection) {
      if (connection.isAgent) return;
      connection.calls += 1;
      if (connection.calls > limits.strangerCalls) end(connection, "volume");
    },
    attach(connection) {
      connection.attached += 1;
      pending.delete(connection);
      let isAttached = true;
      return () => {
        if (isAttached) detach(connection);
        isAttached = false;
      };
    },
    endSoon(connection, reason) {
      const deadline = clock.monotonic() + limits.refusedMs;
      if (deadline < connection.deadline) Object.assign(connection, { deadline, reason });
    },
    end,
    endOverdue() {
      const now = clock.monotonic();
      for (const connection of pending) {
        const { isAgent, socket, deadline, reason } = connection;
        if (now >= deadline) end(connection, reason);
        else if (!isAgent && socket.bytesRead > limits.strangerBytes) end(connection, "volume");
      }
    },
    destroy() {
      for (const { socket } of byPeer.values()) socket.destroy();
    },
    counts: () => ledger.counts(),
  };
}

/** The name of a socket's other end: "address:port". */
export function peerOf({ remoteAddress, remotePort }: Pick<Socket, "remoteAddress" | "remotePort">): string {
  return `${remoteAddress}:${remotePort}`;
}

function newConnection(peer: string, socket: Socket, deadline: number): Connection {
  return { peer, socket, isAgent: false, calls: 0, attached: 0, deadline, reason: "handshake" };
}
