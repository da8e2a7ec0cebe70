import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

/** What a TCP server does with one connection once the first bytes of the client are there. */
export type WireHandler = (socket: Socket, received: string) => void;

/** A TCP server under the test's full control. */
export interface WireServer {
  readonly port: number;
  /** The first bytes of every connection that sent any, as latin1. */
  readonly received: readonly string[];
  /** Connections ever accepted. */
  accepted(): number;
  /** Connections open now. */
  open(): number;
  close(): Promise<void>;
}

/**
 * Answers every connection with exact bytes (then half-closes), or hands the socket to `behaviour`.
 * `atOnce` runs it on connect, without waiting for the client to speak.
 */
export async function startWireServer(
  behaviour: string | Uint8Array | WireHandler,
  options: { readonly host?: string; readonly port?: number; readonly atOnce?: boolean } = {},
): Promise<WireServer> {
  const received: string[] = [];
  const sockets = new Set<Socket>();
  let accepted = 0;
  const answer: WireHandler =
    typeof behaviour === "function"
      ? behaviour
      : (socket) => socket.end(typeof behaviour === "string" ? Buffer.from(behaviour, "latin1") : behaviour);
  const server = createServer((socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    if (options.atOnce === true) answer(socket, "");
    socket.once("data", (bytes: Buffer) => {
      received.push(bytes.toString("latin1"));
      if (options.atOnce !== true) answer(socket, bytes.toString("latin1"));
      socket.resume();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, options.host ?? "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    received,
    accepted: () => accepted,
    open: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

/** Writes `piece` again and again, as fast as the other side reads, until the socket closes. */
export function writeForever(socket: Socket, piece: string | Uint8Array): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(piece)) {
      if (socket.writableLength > 1 << 20) break;
    }
    if (!socket.destroyed) socket.once("drain", more);
  };
  more();
}

/** Writes one byte of `text` every `everyMs`, then nothing more; the connection stays open. */
export function drip(socket: Socket, text: string, everyMs: number): void {
  let at = 0;
  const timer = setInterval(() => {
    if (at < text.length && !socket.destroyed) socket.write(text[at] ?? "");
    at += 1;
  }, everyMs);
  socket.on("close", () => clearInterval(timer));
}
