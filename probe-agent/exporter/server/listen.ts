import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createSecureServer, type Http2SecureServer } from "node:http2";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { cutStalledClients } from "#shared/process/stalled-clients.ts";
import { describeError } from "#shared/contracts/error-code.ts";
import { formatAddress, type Address } from "#shared/settings/address.ts";
import type { WebConfig } from "#probe-agent/exporter/server/web-config.ts";

/** Open listeners. */
interface Listeners {
  readonly ports: readonly number[];
  /** Takes over the certificates of a new configuration. Whether there is TLS does not change. */
  update(config: WebConfig): void;
  close(): Promise<void>;
}

/** Time after which a connection over which nothing is sent is closed, in milliseconds: longer than any usual probe. */
const IDLE_MS = 600_000;
/** Maximum number of connections of a listener. */
const MOST_CONNECTIONS = 4_000;

type AnyServer = Server | Http2SecureServer;

/** Opens all listeners, or returns why one cannot be opened. */
export async function openListeners(
  addresses: readonly Address[],
  config: WebConfig,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Listeners | { readonly line: string }> {
  const clients = cutStalledClients();
  const sockets = new Set<Socket>();
  const servers: AnyServer[] = [];
  const close = async (): Promise<void> => {
    clients.close();
    for (const socket of sockets) socket.destroy();
    await Promise.all(servers.map((server) => new Promise<void>((resolve) => void server.close(() => resolve()))));
  };
  for (const address of addresses) {
    const server = createListener(config, handle);
    server.on("connection", (socket: Socket) => {
      if (sockets.size >= MOST_CONNECTIONS) return void socket.destroy();
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
      clients.watch(socket);
      return undefined;
    });
    try {
      await listen(server, address);
    } catch (error) {
      await close();
      return { line: `the exporter cannot listen on ${formatAddress(address)}: ${describeError(error)}` };
    }
    servers.push(server);
  }
  return {
    ports: servers.map((server) => (server.address() as AddressInfo).port),
    update: ({ tls }) => {
      for (const server of servers) if (tls !== null && "setSecureContext" in server) server.setSecureContext(tls);
    },
    close,
  };
}

function createListener({ tls, http2 }: WebConfig, handle: RequestListener): AnyServer {
  if (tls !== null && http2) {
    const server = createSecureServer({ ...tls, allowHTTP1: true, maxSessionMemory: 4 });
    // The answers use what both kinds of requests have.
    server.on("request", (request, response) => handle(request as never, response as never));
    server.on("sessionError", () => {});
    // Node ends no idle session by itself, and has no limit for the head of a request over it.
    server.setTimeout(IDLE_MS);
    return server;
  }
  const server = tls === null ? createServer(handle) : createTlsServer({ ...tls }, handle);
  server.requestTimeout = 30_000;
  server.headersTimeout = 10_000;
  server.keepAliveTimeout = 300_000;
  return server;
}

function listen(server: AnyServer, { host, port }: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}
