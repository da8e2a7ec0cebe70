import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:net";

/** Below the range from which Linux takes the ports of outgoing connections (ip_local_port_range: 32768 to 60999). */
const FIRST = 20_000;
const LAST = 31_999;

/** Listens; null if that address or name is taken. */
async function listenAt(
  server: Server,
  at: { readonly path: string } | { readonly port: number; readonly host: string },
) {
  server.listen(at);
  try {
    await once(server, "listening");
    return server;
  } catch {
    return null;
  }
}

/**
 * Leases a TCP port of 127.0.0.1 that is free, so that a server can be stopped and started on it again. No connection
 * of another test takes it by chance, and no other test leases it until this process ends: the lease is a socket with
 * the port in its name. Its name is abstract (unix(7)), so the kernel gives it back with the process, however that ends.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST + 1);
    const lease = await listenAt(createServer(), { path: `\0vantage-test-port-${port}` });
    if (lease === null) continue;
    const server = await listenAt(createServer(), { port, host: "127.0.0.1" });
    if (server === null) {
      lease.close();
      continue;
    }
    server.close();
    await once(server, "close");
    lease.unref();
    return port;
  }
}
