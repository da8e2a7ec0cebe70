import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** A TCP proxy in front of a server, with faults. */
export interface FaultyProxy {
  readonly port: number;
  /** Nothing passes any more, in both directions; connections stay open. */
  stall(): void;
  /** Everything passes again, that which has waited first. */
  resume(): void;
  /** Breaks every connection, and refuses new ones until `resume`. */
  cut(): void;
  /**
   * Breaks every connection once, by a reset (default) or as a server that ends. What was sent can have been executed;
   * its answers are lost.
   */
  breakAll(how?: "reset" | "end"): void;
  close(): void;
}

/** Starts a proxy on a free port of 127.0.0.1. */
export async function startFaultyProxy(target: number): Promise<FaultyProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isStalled = false;
  let isCut = false;
  const server = createServer((client) => {
    if (isCut) {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect({ port: target, host: "127.0.0.1", noDelay: true });
    client.setNoDelay(true);
    const pair = [client, upstream] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [upstream, client]] as const) {
      from.on("data", (chunk: Buffer) => {
        if (!to.write(chunk)) from.pause();
      });
      to.on("drain", () => !isStalled && from.resume());
      from.on("end", () => to.end());
      from.on("error", () => to.destroy());
      from.on("close", () => {
        pairs.delete(pair);
        to.destroy();
      });
      if (isStalled) from.pause();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const breakAll = (how: "reset" | "end" = "reset") => {
    for (const [client, upstream] of pairs) {
      if (how === "reset") client.resetAndDestroy();
      else client.destroy();
      upstream.destroy();
    }
  };
  return {
    port: (server.address() as AddressInfo).port,
    stall() {
      isStalled = true;
      for (const pair of pairs) for (const socket of pair) socket.pause();
    },
    resume() {
      isStalled = false;
      isCut = false;
      for (const pair of pairs) for (const socket of pair) socket.resume();
    },
    cut() {
      isCut = true;
      breakAll();
    },
    breakAll,
    close() {
      server.close();
      breakAll();
    },
  };
}
