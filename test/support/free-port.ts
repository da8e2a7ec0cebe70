import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the range from which Linux takes the ports of outgoing connections (ip_local_port_range: 32768 to 60999). */
const FIRST = 20_000;
const LAST = 31_999;

/**
 * Returns a TCP port of 127.0.0.1 that is free now and that no connection of another test takes by chance, so that a
 * server can be stopped and started on it again.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST + 1);
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
    } catch {
      continue;
    }
    server.close();
    await once(server, "close");
    return port;
  }
}
