import type { Socket } from "node:net";
import type { Clock } from "#shared/clock.ts";
import { createLedger, type ConnectionLedger, type NoSlot } from "#control-plane/dispatch/grpc/ledger.ts";
import type { ConnectionLimits } from "#control-plane/dispatch/grpc/limits.ts";
import { addressGroup } from "#control-plane/limits/address.ts";

/**
 * Reason why this side refused or closed a connection. handshake, unattached: its deadline has passed. protocol: it
 * does not use HTTP/2. volume: a stranger sent too much or made too many calls. displaced: a newer connection took its
 * slot. refused: its call was refused. silent: its call never sent a message. The other reasons are limits without a
 * free slot.
 */
export type ConnectionEnd =
  | NoSlot
  | "displaced"
  | "handshake"
  | "protocol"
  | "unattached"
  | "volume"
  | "refused"
  | "silent";

/** An open connection. */
interface Connection {
  /** "address:port", as in grpc-js. */
  readonly peer: string;
  readonly socket: Socket;
  /** Whether it has presented a valid client certificate. */
  isAgent: boolean;
  /** Number of calls that began over it. */
  calls: number;
  /** Number of streams attached over it. While there is one, the deadline does not apply. */
  attached: number;
  /** Monotonic milliseconds. */
  deadline: number;
  /** Reason for the end of the connection at its deadline. */
  reason: ConnectionEnd;
}

/** The open connections to the agents' port. Each has a deadline until an agent is attached over it. */
export interface ConnectionTable {
  find(peer: string): Connection | undefined;
  /** Adds a new socket. Returns null if there was no slot and the socket was reset. */
  open(socket: Socket): Connection | null;
  /** Starts the deadline for attaching an agent, after the TLS handshake. */
  expectAttachment(connection: Connection): void;
  /** Counts the connection as one of this agent. Returns false if there was no slot and it was reset. */
  identify(connection: Connection, agent: string): boolean;
  /** Counts a call. Resets a stranger that makes too many calls. */
  countCall(connection: Connection): void;
  /** Records that an agent is attached over the connection, until the returned function is called. */
  attach(connection: Connection): () => void;
  /** Ends the connection in a moment, unless an agent is attached over it. */
  endSoon(connection: Connection, reason: "refused" | "silent"): void;
  /** Resets the connection. */
  end(connection: Connection, reason: ConnectionEnd): void;
  /** Resets connections whose deadline has passed and strangers that sent too much. */
  endOverdue(): void;
  /** Destroys every socket. */
  destroy(): void;
  counts(): { readonly strangers: number; readonly agents: number };
}

/** Dependencies of a table. */
interface ConnectionTableDeps {
  readonly limits: ConnectionLimits;
  readonly clock: Pick<Clock, "monotonic">;
  /** Called for each connection that this side refuses or closes. */
  readonly onEnd: (reason: ConnectionEnd, peer: string) => void;
}

/** State of a table, which the functions below share. */
interface TableState extends ConnectionTableDeps {
  readonly ledger: ConnectionLedger;
  readonly byPeer: Map<string, Connection>;
  /** Connections without an attached stream. */
  readonly pending: Set<Connection>;
}

/** Creates an empty table. */
export function createConnectionTable({ limits, clock, onEnd }: ConnectionTableDeps): ConnectionTable {
  const ledger = createLedger(limits);
  const table: TableState = { limits, clock, onEnd, ledger, byPeer: new Map(), pending: new Set() };
  return {
    find: (peer) => table.byPeer.get(peer),
    open: (socket) => openConnection(table, socket),
    expectAttachment: (connection) => expectAttachment(table, connection),
    identify: (connection, agent) => identifyConnection(table, connection, agent),
    countCall: (connection) => countCall(table, connection),
    attach: (connection) => attachAgent(table, connection),
    endSoon: (connection, reason) => endSoon(table, connection, reason),
    end: (connection, reason) => endConnection(table, connection, reason),
    endOverdue: () => endOverdue(table),
    destroy() {
      for (const { socket } of table.byPeer.values()) socket.destroy();
    },
    counts: () => table.ledger.counts(),
  };
}

function openConnection(table: TableState, socket: Socket): Connection | null {
  const { limits, clock, onEnd, ledger, byPeer, pending } = table;
  const peer = peerOf(socket);
  const now = clock.monotonic();
  const slot = byPeer.has(peer) ? null : ledger.open(peer, addressGroup(socket.remoteAddress ?? ""), now);
  if (slot === null || !slot.ok) {
    onEnd(slot?.reason ?? "address", peer);
    socket.resetAndDestroy();
    return null;
  }
  const displaced = slot.displaced === null ? undefined : byPeer.get(slot.displaced);
  if (displaced !== undefined) endConnection(table, displaced, "displaced");
  const connection = newConnection(peer, socket, now + limits.handshakeMs);
  byPeer.set(peer, connection);
  pending.add(connection);
  socket.once("close", () => forgetConnection(table, connection));
  return connection;
}

function identifyConnection(table: TableState, connection: Connection, agent: string): boolean {
  const noSlot = table.ledger.identify(connection.peer, agent);
  if (noSlot === null) connection.isAgent = true;
  else endConnection(table, connection, noSlot);
  return noSlot === null;
}

function countCall(table: TableState, connection: Connection): void {
  if (connection.isAgent) return;
  connection.calls += 1;
  if (connection.calls > table.limits.strangerCalls) endConnection(table, connection, "volume");
}

function attachAgent(table: TableState, connection: Connection): () => void {
  connection.attached += 1;
  table.pending.delete(connection);
  let isAttached = true;
  return () => {
    if (isAttached) detachAgent(table, connection);
    isAttached = false;
  };
}

function detachAgent(table: TableState, connection: Connection): void {
  connection.attached -= 1;
  if (connection.attached > 0 || table.byPeer.get(connection.peer) !== connection) return;
  expectAttachment(table, connection);
  table.pending.add(connection);
}

function expectAttachment({ clock, limits }: TableState, connection: Connection): void {
  Object.assign(connection, { deadline: clock.monotonic() + limits.unattachedMs, reason: "unattached" });
}

function endSoon({ clock, limits }: TableState, connection: Connection, reason: "refused" | "silent"): void {
  const deadline = clock.monotonic() + limits.refusedMs;
  if (deadline < connection.deadline) Object.assign(connection, { deadline, reason });
}

function endOverdue(table: TableState): void {
  const now = table.clock.monotonic();
  for (const connection of table.pending) {
    const { isAgent, socket, deadline, reason } = connection;
    if (now >= deadline) endConnection(table, connection, reason);
    else if (!isAgent && socket.bytesRead > table.limits.strangerBytes) endConnection(table, connection, "volume");
  }
}

function endConnection(table: TableState, connection: Connection, reason: ConnectionEnd): void {
  table.onEnd(reason, connection.peer);
  forgetConnection(table, connection);
  connection.socket.resetAndDestroy();
}

function forgetConnection({ ledger, pending, byPeer }: TableState, connection: Connection): void {
  ledger.close(connection.peer);
  pending.delete(connection);
  if (byPeer.get(connection.peer) === connection) byPeer.delete(connection.peer);
}

/** Returns the name of a socket's peer: "address:port". */
export function peerOf({ remoteAddress, remotePort }: Pick<Socket, "remoteAddress" | "remotePort">): string {
  return `${remoteAddress}:${remotePort}`;
}

function newConnection(peer: string, socket: Socket, deadline: number): Connection {
  return { peer, socket, isAgent: false, calls: 0, attached: 0, deadline, reason: "handshake" };
}
