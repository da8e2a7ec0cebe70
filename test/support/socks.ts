import { connect, type Socket } from "node:net";

/** Reply to a SOCKS5 client, and the data after it. */
export interface SocksAnswer {
  /** Reply code of RFC 1928 section 6; null if the connection was closed without one. */
  readonly code: number | null;
  readonly socket: Socket;
  /** Everything received until the connection closes, in latin1. */
  readonly rest: Promise<string>;
}

/** Asks a SOCKS5 proxy on loopback for a connection by name, then sends `first`. */
export async function socksConnect(proxyPort: number, host: string, port: number, first = ""): Promise<SocksAnswer> {
  const name = Buffer.from(host, "latin1");
  const request = Buffer.concat([Buffer.from([5, 1, 0, 3, name.length]), name, Buffer.from([port >> 8, port & 255])]);
  return await socksExchange(proxyPort, [Buffer.from([5, 1, 0]), request, Buffer.from(first)]);
}

/** Sends octets one piece after the other. Returns the reply code if the proxy sends one. */
export async function socksExchange(proxyPort: number, pieces: readonly Buffer[]): Promise<SocksAnswer> {
  const socket = connect(proxyPort, "127.0.0.1");
  socket.on("error", () => socket.destroy());
  let received = Buffer.alloc(0);
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
  });
  const code = new Promise<number | null>((resolve) => {
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (received.length >= 12) resolve(received[3] ?? null);
    });
    void closed.then(() => resolve(null));
  });
  for (const piece of pieces) if (piece.length > 0) socket.write(piece);
  return { code: await code, socket, rest: closed.then(() => received.subarray(12).toString("latin1")) };
}
