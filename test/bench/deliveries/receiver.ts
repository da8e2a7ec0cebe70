// An HTTPS server on loopback that takes every delivery with 204, in a process of its own. It writes its address and the
// root of its certificate to a file, and answers the parent's questions: how many it has taken, and when.
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createPki } from "#test/servers/pki.ts";
import { identityOf } from "#test/support/http-engine.ts";

const [, , file = ""] = process.argv;
const pki = await createPki({ name: `Receiver of ${process.pid}` });
const identity = identityOf(await pki.issue({ ip: ["127.0.0.1"], dns: ["localhost"] }), pki.intermediate);
/** Arrivals by event id, Unix milliseconds with fractions. */
let arrivals = new Map<string, number>();
let taken = 0;

const server = createServer(identity, (request, response) => {
  arrivals.set(String(request.headers["webhook-id"]), performance.timeOrigin + performance.now());
  request.resume().once("end", () => {
    taken += 1;
    response.writeHead(204).end();
  });
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
writeFileSync(file, pki.root.pem);
process.on("message", (message) => {
  if (message === "taken") process.send?.(taken);
  if (message === "arrivals") {
    process.send?.([...arrivals]);
    arrivals = new Map();
  }
});
process.send?.((server.address() as AddressInfo).port);
