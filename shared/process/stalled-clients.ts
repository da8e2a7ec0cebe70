import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { followWrites, type WriteProgress, type WriteSample } from "#shared/process/write-progress.ts";

/** When a client that does not read is cut off. */
export interface StallOptions {
  /** Milliseconds from one look at all connections to the next. */
  readonly lookEveryMs?: number;
  /** A client that took no octet from one look to the next, so many times in a row, is cut off. */
  readonly looks?: number;
  /** A connection is about to be cut. */
  readonly onCut?: (socket: Socket) => void;
}

/** Connections of clients that must read what they ask for. */
export interface StalledClients {
  /** Watches a connection until it is closed; once is enough. */
  watch(socket: Socket): void;
  close(): void;
}

/** 30 s in six looks: a client that stops reading is cut off after 30 to 35 s. */
const LOOK_EVERY_MS = 5_000;
const LOOKS = 6;

/**
 * Cuts off clients that do not read: what they asked for stays in memory until they take it. One that takes a little now
 * and then, or has nothing to take, is left alone.
 */
export function cutStalledClients(options: StallOptions = {}): StalledClients {
  const { lookEveryMs = LOOK_EVERY_MS, looks = LOOKS, onCut } = options;
  const open = new Map<Socket, WriteProgress | undefined>();
  const timer = setInterval(() => {
    for (const [socket, before] of open) {
      if (before === undefined && socket.writableLength === 0) continue;
      const progress = followWrites(before, sampleOf(socket));
      open.set(socket, progress);
      if (progress === undefined || progress.quietLooks < looks) continue;
      onCut?.(socket);
      cut(socket);
    }
  }, lookEveryMs);
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

/** With a reset where Node can send one: the kernel then drops what it holds as well. */
function cut(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}

/** The fields of a socket's handle that say how much of a write under way the kernel has taken. */
interface WriteHandle {
  /** Octets given to the handle so far. */
  readonly bytesWritten?: number;
  /** Those of them that the kernel has not taken. */
  readonly writeQueueSize?: number;
  /** Below TLS: the handle of the TCP connection. */
  readonly _parent?: WriteHandle;
}

/**
 * Node has no public name for the progress within one write, which may be megabytes long; it reads the same fields for
 * socket.setTimeout (lib/net.js, Socket.prototype._onTimeout). Without them a whole write counts as one step.
 */
function sampleOf(socket: Socket): WriteSample {
  const { _handle: handle } = socket as Socket & { readonly _handle?: WriteHandle | null };
  const { _parent: below } = handle ?? {};
  const { bytesWritten = socket.bytesWritten - socket.writableLength, writeQueueSize = 0 } = below ?? handle ?? {};
  return { isWaiting: socket.writableLength > 0, taken: bytesWritten - writeQueueSize };
}
