import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** A TCP relay in front of a server on loopback, through which a test takes that server away. */
export interface TcpProxy {
  readonly port: number;
  /** Stops listening and resets every connection: what a stopped server looks like. */
  cut(): Promise<void>;
  /** Holds every byte in both directions, connections open: what a frozen host looks like. */
  freeze(): void;
  /** Back to relaying. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

/** Relays to a port on loopback. */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let frozen = false;

  function keep(socket: Socket): void {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    if (frozen) socket.pause();
  }

  function relay(client: Socket): void {
    const upstream = connect(targetPort, "127.0.0.1");
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on("data", (bytes) => to.write(bytes));
      from.on("close", () => to.destroy());
      keep(from);
    }
  }

  let server = createServer(relay);
  const listen = (port: number): Promise<number> =>
    new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
    });
  const port = await listen(0);

  async function cut(): Promise<void> {
    const closed = new Promise((resolve) => {
      server.close(resolve);
    });
    for (const socket of sockets) socket.resetAndDestroy();
    await closed;
  }

  return {
    port,
    cut,
    freeze() {
      frozen = true;
      for (const socket of sockets) socket.pause();
    },
    async restore() {
      frozen = false;
      for (const socket of sockets) socket.resume();
      if (!server.listening) {
        server = createServer(relay);
        await listen(port);
      }
    },
    close: cut,
  };
}
