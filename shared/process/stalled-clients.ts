import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { followWrites, type WriteProgress, type WriteSample } from "#shared/process/write-progress.ts";

/** When to disconnect a client that does not read. */
export interface StallOptions {
  /** Milliseconds between two checks of all connections. */
  readonly checkEveryMs?: number;
  /** A client is disconnected after this many consecutive checks in which it took no octet. */
  readonly checks?: number;
  /** Called before a connection is closed. */
  readonly onCut?: (socket: Socket) => void;
}

/** Connections of clients that must read what they ask for. */
interface StalledClients {
  /** Watches a connection until it closes; further calls for it have no effect. */
  watch(socket: Socket): void;
  close(): void;
}

/** 30 s in six checks: a client that stops reading is disconnected after 30 to 35 s. */
const CHECK_EVERY_MS = 5_000;
const CHECKS = 6;

/**
 * Disconnects clients that do not read, because their responses stay in memory until they take them. A client that
 * takes a little now and then, or has nothing to take, stays connected.
 */
export function cutStalledClients(options: StallOptions = {}): StalledClients {
  const { checkEveryMs = CHECK_EVERY_MS, checks = CHECKS, onCut } = options;
  const open = new Map<Socket, WriteProgress | undefined>();
  const timer = setInterval(() => {
    for (const [socket, before] of open) {
      if (before === undefined && socket.writableLength === 0) continue;
      const progress = followWrites(before, sampleOf(socket));
      open.set(socket, progress);
      if (progress === undefined || progress.quietChecks < checks) continue;
      onCut?.(socket);
      cut(socket);
    }
  }, checkEveryMs);
  timer.unref();
  return {
    watch(socket) {
      if (socket.destroyed || open.has(socket)) return;
      open.set(socket, undefined);
      socket.once("close", () => open.delete(socket));
    },
    close: () => clearInterval(timer),
  };
}

/** Closes a connection with a reset if Node can send one: the kernel then drops its send buffer too. */
function cut(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}

/** Fields of a socket's handle that show how much of a pending write the kernel has taken. */
interface WriteHandle {
  /** Octets passed to the handle so far. */
  readonly bytesWritten?: number;
  /** Octets of them that the kernel has not yet accepted. */
  readonly writeQueueSize?: number;
  /** Below TLS: the handle of the TCP connection. */
  readonly _parent?: WriteHandle;
}

/**
 * Samples a socket. Node has no public API for the progress within one write, which may be megabytes long. Node itself
 * reads these fields for socket.setTimeout (lib/net.js, Socket.prototype._onTimeout). Without them a whole write counts
 * as one step.
 */
function sampleOf(socket: Socket): WriteSample {
  const { _handle: handle } = socket as Socket & { readonly _handle?: WriteHandle | null };
  const { _parent: below } = handle ?? {};
  const { bytesWritten = socket.bytesWritten - socket.writableLength, writeQueueSize = 0 } = below ?? handle ?? {};
  return { isWaiting: socket.writableLength > 0, taken: bytesWritten - writeQueueSize };
}
