import { createServer, type Server } from "node:http";

/** Pages of the site that the seeded monitors watch: one is right, one is broken, one changes every two minutes. */
export function startDemoSite(port: number, now: () => number): Promise<Server> {
  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    const isBroken = path === "/broken" || (path === "/flapping" && Math.floor(now() / 120_000) % 2 === 1);
    response.writeHead(isBroken ? 503 : 200, { "content-type": "text/html; charset=utf-8" });
    response.end(
      `<!doctype html><title>Demo</title><p>${isBroken ? "Out of order" : "Welcome to the demo shop"}</p>\n`,
    );
  });
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  server.once("error", reject);
  server.listen(port, "127.0.0.1", () => resolve(server));
  return promise;
}
