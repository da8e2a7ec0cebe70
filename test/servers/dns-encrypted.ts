import { once } from "node:events";
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import { connect, type AddressInfo, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { createServer as createHttpsServer } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Issued } from "#test/servers/pki.ts";

/** How a front misbehaves. */
export interface FrontOptions {
  readonly certificate: Issued;
  /** Certificates sent after it. */
  readonly chain?: readonly Issued[];
  /** doh: HTTP/1.1 only. */
  readonly http1?: boolean;
  /** doh: this status instead of an answer. */
  readonly status?: number;
  /** doh: this Content-Type. */
  readonly mediaType?: string;
  /** doh: so many octets of body whatever was asked. */
  readonly flood?: number;
}

/** A DNS over TLS or HTTPS front on a port of its own, handing every query to a DNS server's TCP port on loopback. */
export interface EncryptedFront {
  readonly port: number;
  /** What clients asked for: SNI by connection, and `:path` by request. */
  readonly seen: { readonly names: (string | null)[]; readonly paths: string[] };
  close(): Promise<void>;
}

interface Listening {
  address(): AddressInfo | string | null;
  listen(port: number, host: string): unknown;
  close(): unknown;
  once(event: string, listener: () => void): unknown;
  on(event: "secureConnection", listener: (socket: TLSSocket) => void): unknown;
}

/** RFC 7858: the octets of the TCP port, inside TLS. */
export function startDotFront(backendPort: number, options: FrontOptions): Promise<EncryptedFront> {
  return start(createTlsServer({ ...identity(options), ALPNProtocols: ["dot"] }), (socket) => {
    const backend = connect(backendPort, "127.0.0.1");
    backend.on("error", () => socket.destroy());
    socket.on("close", () => backend.destroy());
    socket.pipe(backend).pipe(socket);
  });
}

/** RFC 8484 over HTTP/2, or HTTP/1.1 where the options say so. */
export function startDohFront(backendPort: number, options: FrontOptions): Promise<EncryptedFront> {
  const paths: string[] = [];
  const handle = (
    request: IncomingMessage | Http2ServerRequest,
    response: ServerResponse | Http2ServerResponse,
  ): void => {
    paths.push(request.url ?? "");
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      void answerFrom(backendPort, Buffer.concat(chunks), response as ServerResponse, options);
    });
  };
  const server =
    options.http1 === true
      ? createHttpsServer(identity(options), handle)
      : createSecureServer({ ...identity(options), allowHTTP1: true }, handle);
  return start(server, () => {}, paths);
}

async function answerFrom(
  port: number,
  query: Buffer,
  response: ServerResponse,
  { status = 200, mediaType = "application/dns-message", flood }: FrontOptions,
): Promise<void> {
  const reply = await askBackend(port, query).catch(() => Buffer.alloc(0));
  response.writeHead(status, { "content-type": mediaType });
  response.end(flood === undefined ? reply : Buffer.alloc(flood));
}

function identity({ certificate, chain = [] }: FrontOptions) {
  return { key: certificate.keyPem, cert: [certificate, ...chain].map(({ pem }) => pem).join("\n") };
}

async function start(
  server: Listening,
  serve: (socket: TLSSocket) => void,
  paths: string[] = [],
): Promise<EncryptedFront> {
  const names: (string | null)[] = [];
  const sockets = new Set<Socket>();
  server.on("secureConnection", (socket) => {
    names.push(typeof socket.servername === "string" ? socket.servername : null);
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    serve(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server as never, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    seen: { names, paths },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server as never, "close");
    },
  };
}

async function askBackend(port: number, query: Buffer): Promise<Buffer> {
  const socket = connect(port, "127.0.0.1");
  socket.write(Buffer.concat([Buffer.of(query.length >>> 8, query.length & 0xff), query]));
  let held = Buffer.alloc(0);
  for await (const chunk of socket) {
    held = Buffer.concat([held, chunk as Buffer]);
    if (held.length >= 2 && held.length >= 2 + held.readUInt16BE(0)) break;
  }
  socket.destroy();
  return held.subarray(2);
}
