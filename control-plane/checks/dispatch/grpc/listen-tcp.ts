import { lookup } from "node:dns/promises";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** Open listening sockets of one port. */
interface TcpListener {
  readonly port: number;
  /** Accepts no more connections. */
  close(): void;
}

/**
 * Listens on every address of a host: a name such as localhost can have an IPv4 and an IPv6 address. Rejects if none of
 * them can be bound. Port 0 selects a free port, the same for all addresses.
 */
export async function listenTcp(
  { host, port }: { readonly host: string; readonly port: number },
  onConnection: (socket: Socket) => void,
): Promise<TcpListener> {
  const servers: Server[] = [];
  let bound = port;
  let failure: unknown = new Error(`${host} has no address`);
  for (const { address } of await lookup(host, { all: true })) {
    try {
      const server = await bind(address, bound, onConnection);
      servers.push(server);
      bound = (server.address() as AddressInfo).port;
    } catch (error) {
      failure = error;
    }
  }
  if (servers.length === 0) throw failure;
  return {
    port: bound,
    close() {
      for (const server of servers) server.close();
    },
  };
}

function bind(host: string, port: number, onConnection: (socket: Socket) => void): Promise<Server> {
  const server = createServer({ noDelay: true }, onConnection);
  return new Promise((resolve, reject) => {
    server.once("error", reject).listen({ host, port }, () => {
      server.off("error", reject);
      resolve(server);
    });
  });
}
