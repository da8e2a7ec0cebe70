import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

/** A server on loopback that hands every request on with a key, for a client that cannot send one. */
export interface BearerProxy {
  readonly url: string;
  /** From now on requests go to this origin, with this key. */
  lead(target: string, key: string): void;
  close(): Promise<void>;
}

/** Starts one that leads nowhere yet, so that the server behind it can be started with its address. */
export async function startBearerProxy(): Promise<BearerProxy> {
  let target = "";
  let key = "";
  const server = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${key}` };
    const onward = request(
      `${target}${incoming.url ?? "/"}`,
      { method: incoming.method ?? "GET", headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    onward.on("error", () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lead(to, withKey) {
      target = to;
      key = withKey;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
