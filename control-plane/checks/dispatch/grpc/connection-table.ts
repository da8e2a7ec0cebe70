import { isIPv4, type Socket } from "node:net";
import { isLoopback } from "#shared/settings/address.ts";
import { createListRule } from "#shared/egress/addresses.ts";
import type { App } from "#control-plane/core/app.ts";
import type { AddressLimiter } from "#control-plane/http/access/ports.ts";
import {
  createLedger,
  type ConnectionLedger,
  type NoSlot,
  type Slot,
} from "#control-plane/checks/dispatch/grpc/ledger.ts";
import type { ConnectionLimits } from "#control-plane/checks/dispatch/grpc/limits.ts";
import { addressGroup, createAddressLimiter } from "#control-plane/http/limits/address.ts";

/**
 * Reason why this side refused or closed a connection. handshake, unattached: its deadline has passed. protocol: it
 * does not use HTTP/2. volume: a stranger sent too much or began too many streams. displaced: a newer connection took
 * its slot. refused: its call was refused. silent: its call never sent a message. handshakes: strangers of its address
 * have made too many in this second. The other reasons are limits without a free slot.
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
  /** The client's address in normal form. */
  readonly address: string;
  readonly socket: Socket;
  /** Whether it has presented a valid client certificate. */
  isAgent: boolean;
  /** Number of streams that began over it. */
  streams: number;
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
  /**
   * Records the end of the TLS handshake: the deadline for attaching an agent begins. `isStranger`: it showed no valid
   * certificate. Returns false if its address had too many of those in this second, and it was reset.
   */
  secure(connection: Connection, isStranger: boolean): boolean;
  /** Counts the connection as one of this agent. Returns false if there was no slot and it was reset. */
  identify(connection: Connection, agent: string): boolean;
  /** Counts a stream. Returns false if the connection is a stranger's with too many: the caller resets its socket. */
  countStream(connection: Connection): boolean;
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
  /** Reports whether an agent is attached from another host. */
  hasRemoteAgents(): boolean;
  counts(): { readonly strangers: number; readonly agents: number };
}

/** State of a table, which the functions below share. */
interface TableState extends Pick<App, "clock"> {
  readonly limits: ConnectionLimits;
  /** Called for each connection that this side refuses or closes. */
  readonly onEnd: (reason: ConnectionEnd, peer: string) => void;
  readonly ledger: ConnectionLedger;
  readonly byPeer: Map<string, Connection>;
  /** Connections without an attached stream. */
  readonly pending: Set<Connection>;
  /** Handshakes of strangers by address. */
  readonly handshakes: AddressLimiter;
  readonly isUnlimited: (ip: string) => boolean;
}

/** Creates an empty table. */
export function createConnectionTable({
  limits,
  clock,
  onEnd,
}: Pick<TableState, "limits" | "clock" | "onEnd">): ConnectionTable {
  const ledger = createLedger(limits);
  const handshakes = createAddressLimiter({ clock, limit: limits.strangerHandshakes, windowSeconds: 1 });
  const isUnlimited = createListRule(limits.unlimited);
  const shared = { limits, clock, onEnd, ledger, handshakes, isUnlimited };
  const table: TableState = { ...shared, byPeer: new Map(), pending: new Set() };
  return {
    hasRemoteAgents: () => table.byPeer.values().some(({ attached, address }) => attached > 0 && !isLoopback(address)),
    find: (peer) => table.byPeer.get(peer),
    open: (socket) => openConnection(table, socket),
    secure(connection, isStranger) {
      const isKept = !isStranger || countHandshake(table, connection);
      expectAttachment(table, connection);
      if (!isKept) endConnection(table, connection, "handshakes");
      return isKept;
    },
    identify: (connection, agent) => identifyConnection(table, connection, agent),
    countStream: (connection) => countStream(table, connection),
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
  const { limits, clock, onEnd, ledger, byPeer, pending, handshakes } = table;
  const [peer, address] = [peerOf(socket), addressOf(socket.remoteAddress)];
  const now = clock.monotonic();
  const slot: Slot = byPeer.has(peer)
    ? { ok: false, reason: "address" }
    : handshakes.isExhausted(address)
      ? { ok: false, reason: "handshakes" }
      : ledger.open(peer, addressGroup(address), now);
  if (!slot.ok) {
    onEnd(slot.reason, peer);
    socket.resetAndDestroy();
    return null;
  }
  const displaced = slot.displaced === null ? undefined : byPeer.get(slot.displaced);
  if (displaced !== undefined) endConnection(table, displaced, "displaced");
  const connection = newConnection({ peer, address, socket }, now + limits.handshakeMs);
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

function countStream(table: TableState, connection: Connection): boolean {
  connection.streams += 1;
  if (connection.isAgent || connection.streams <= table.limits.strangerStreams) return true;
  table.onEnd("volume", connection.peer);
  forgetConnection(table, connection);
  return false;
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

function forgetConnection(table: TableState, connection: Connection): void {
  const { ledger, pending, byPeer } = table;
  ledger.close(connection.peer);
  pending.delete(connection);
  if (byPeer.get(connection.peer) !== connection) return;
  byPeer.delete(connection.peer);
  // This side has done its part of a handshake that the client began and did not finish.
  if (connection.reason === "handshake" && connection.socket.bytesRead > 0) countHandshake(table, connection);
}

/** Counts a stranger's handshake. Returns false if its address had too many in this second. */
function countHandshake({ handshakes, isUnlimited }: TableState, { address }: Connection): boolean {
  return isUnlimited(address) || handshakes.take(address).ok;
}

const MAPPED = "::ffff:";

/** Returns the address of a peer; that of an IPv4 peer of a listener for both families as IPv4. */
function addressOf(remoteAddress = ""): string {
  const mapped = remoteAddress.startsWith(MAPPED) ? remoteAddress.slice(MAPPED.length) : "";
  return isIPv4(mapped) ? mapped : remoteAddress;
}

/** Returns the name of a socket's peer: "address:port". */
export function peerOf({ remoteAddress, remotePort }: Pick<Socket, "remoteAddress" | "remotePort">): string {
  return `${remoteAddress}:${remotePort}`;
}

function newConnection(of: Pick<Connection, "peer" | "address" | "socket">, deadline: number): Connection {
  return { ...of, isAgent: false, streams: 0, attached: 0, deadline, reason: "handshake" };
}
