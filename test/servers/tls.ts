import { createServer, type TlsOptions, type TLSSocket } from "node:tls";
import type { AddressInfo, Socket } from "node:net";
import type { Issued } from "#test/servers/pki.ts";

/** A TLS server. */
export interface TlsServer {
  readonly port: number;
  /** SNI names clients sent, null for none, in order of arrival. */
  readonly servernames: readonly (string | null)[];
  close(): Promise<void>;
}

/** What a server presents and insists on, beyond Node's own options. */
export interface TlsServerOptions extends Omit<TlsOptions, "cert" | "key"> {
  /** Leaf first, then whatever else is sent, in this order. */
  readonly chain: readonly Issued[];
  /** Octets stapled as OCSP response. */
  readonly staple?: Uint8Array;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default a free one. */
  readonly port?: number;
  /** Called after each handshake. Default: does nothing, the client closes. */
  readonly onConnection?: (socket: TLSSocket) => void;
}

/** Starts a server that sends exactly the given chain; weak keys and hashes are allowed. */
export async function startTlsServer(options: TlsServerOptions): Promise<TlsServer> {
  const { chain, staple, onConnection, host = "127.0.0.1", port = 0, ...rest } = options;
  const servernames: (string | null)[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(
    {
      ciphers: "ALL:!aNULL:@SECLEVEL=0",
      cert: chain.map((certificate) => certificate.pem).join(""),
      key: chain[0]?.keyPem,
      ...rest,
    },
    (socket) => {
      servernames.push(socket.servername === false ? null : socket.servername);
      socket.on("error", () => socket.destroy());
      if (onConnection) onConnection(socket);
      else socket.resume();
    },
  );
  server.on("OCSPRequest", (_certificate, _issuer, callback) => {
    callback(null, staple === undefined ? null : Buffer.from(staple));
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    servernames,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
