import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createSecureServer } from "node:http2";
import type { AddressInfo, Server, Socket } from "node:net";
import { ROUTES } from "#test/servers/http-routes.ts";

/** A certificate (with its chain) and its key, PEM; `identityOf` makes one of test/servers/pki.ts. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

/** A request the server has seen. */
export interface SeenRequest {
  readonly method: string;
  /** Path and query as sent. */
  readonly path: string;
  readonly httpVersion: string;
  /** In wire order; names in wire case on HTTP/1. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

/** Answers a request itself and returns true, or returns false to let the built-in routes answer. */
export type Handler = (request: IncomingMessage, response: ServerResponse, seen: SeenRequest) => boolean;

/** How the server is set up; everything has a default. */
export interface HttpServerOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default a free one. */
  readonly port?: number;
  /** Present: TLS. */
  readonly tls?: Identity & {
    readonly minVersion?: "TLSv1" | "TLSv1.2";
    readonly maxVersion?: "TLSv1" | "TLSv1.2";
    /** OpenSSL's list; default its own, weak keys allowed. */
    readonly ciphers?: string;
  };
  /** With `tls`: offer h2 by ALPN beside http/1.1; "only" refuses HTTP/1. Default false. */
  readonly h2?: boolean | "only";
  /** Asked before the built-in routes. */
  readonly handler?: Handler;
  /** Name used in `url`; default the host. */
  readonly name?: string;
}

/** A running server. */
export interface HttpServer {
  readonly port: number;
  /** Origin without a final slash. */
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  /** TCP connections ever accepted. */
  accepted(): number;
  /** TCP connections open now. */
  open(): number;
  close(): Promise<void>;
}

/** Starts a loopback HTTP server that has every route of test/servers/http-routes.ts. */
export async function startHttpServer(options: HttpServerOptions = {}): Promise<HttpServer> {
  const requests: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  let accepted = 0;
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    void answer(request, response, requests, options.handler);
  };
  const server = makeServer(options, listener);
  server.on("connection", (socket: Socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("tlsClientError", () => undefined);
  server.on("sessionError", () => undefined);
  const host = options.host ?? "127.0.0.1";
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const shown = options.name ?? (host.includes(":") ? `[${host}]` : host);
  return {
    port,
    url: `${options.tls === undefined ? "http" : "https"}://${shown}:${port}`,
    requests,
    accepted: () => accepted,
    open: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

function makeServer(
  options: HttpServerOptions,
  listener: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  if (options.tls === undefined) return createServer({ keepAliveTimeout: 0 }, listener);
  const tls = { ciphers: "DEFAULT@SECLEVEL=0", ...options.tls };
  if (options.h2 === undefined || options.h2 === false) return createTlsServer(tls, listener);
  const server = createSecureServer({ ...tls, allowHTTP1: options.h2 !== "only" });
  server.on("request", listener as never);
  return server;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  requests: SeenRequest[],
  handler: Handler | undefined,
): Promise<void> {
  request.on("error", () => undefined);
  response.on("error", () => undefined);
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const headers: (readonly [string, string])[] = [];
  for (let at = 0; at + 1 < request.rawHeaders.length; at += 2) {
    headers.push([request.rawHeaders[at] ?? "", request.rawHeaders[at + 1] ?? ""]);
  }
  const seen: SeenRequest = {
    method: request.method ?? "",
    path: request.url ?? "",
    httpVersion: request.httpVersion,
    headers,
    body: Buffer.concat(chunks).toString("latin1"),
  };
  requests.push(seen);
  if (handler?.(request, response, seen) === true) return;
  const url = new URL(seen.path, "http://server.invalid");
  const [, route = "", argument = ""] = url.pathname.split("/");
  const run = ROUTES[route];
  if (run === undefined) {
    response.writeHead(404, { "content-type": "text/plain" }).end("no such route\n");
    return;
  }
  run({ request, response, seen, url, argument });
}
