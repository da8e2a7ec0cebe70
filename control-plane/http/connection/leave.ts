import type { Server } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** Time for load balancers to notice that a replica is not ready, milliseconds: two questions a second apart, and some more. */
const LEAVE_MS = 5_000;
const LOOK_MS = 100;

/**
 * Lets clients leave a replica that stops while others run. A server that closes a connection between two requests can break the
 * request that is on its way. So each answer from now on is the last of its connection, and the listener stays open until no
 * connection is, for 5 s at most.
 */
export async function letClientsLeave(server: Server): Promise<void> {
  server.prependListener("request", (_request, response) => void response.setHeader("connection", "close"));
  for (let waited = 0; waited < LEAVE_MS && (await countConnections(server)) > 0; waited += LOOK_MS)
    await sleep(LOOK_MS);
}

function countConnections(server: Server): Promise<number> {
  return new Promise((resolve) => void server.getConnections((_error, count) => resolve(count ?? 0)));
}
