import { createServer, type AddressInfo, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { Identity } from "#test/servers/http.ts";

/** `socket` is spoken through; `raw` is the TCP connection under it, the same where there is no TLS. */
export type Accept = (socket: Socket, raw: Socket) => void;

/** A running server. */
export interface SocketServer {
  readonly port: number;
  /** Connections open now. */
  open(): number;
  close(): Promise<void>;
}

/** Hands each connection to `accept`, with its TCP socket, which alone can be reset. */
export async function startSocketServer(
  accept: Accept,
  tls: (Identity & { readonly alpn?: readonly string[] }) | null,
): Promise<SocketServer> {
  const raws = new Map<number | undefined, Socket>();
  const opened = (socket: Socket): void => {
    socket.on("error", () => socket.destroy());
    accept(socket, raws.get(socket.remotePort) ?? socket);
  };
  const { alpn = [], ...identity } = tls ?? {};
  const server =
    tls === null ? createServer(opened) : createTlsServer({ ...identity, ALPNProtocols: [...alpn] }, opened);
  server.on("connection", (raw: Socket) => {
    const { remotePort } = raw;
    raws.set(remotePort, raw);
    raw.on("error", () => raw.destroy());
    raw.on("close", () => raws.delete(remotePort));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    open: () => raws.size,
    async close() {
      for (const raw of raws.values()) raw.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
