import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";

/** A certificate with its chain and its key, PEM. */
export interface TlsIdentity {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Where a receiver listens. */
interface ListenOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** null: plain HTTP. */
  readonly tls: TlsIdentity | null;
}

/** An open receiver. */
interface Receiver {
  readonly port: number;
  /** Ends after the answers that are being sent, at most after a second. */
  close(): Promise<void>;
}

/** Time limits, milliseconds. Node compares them with the age of each connection once a second. */
const LIMITS = { requestTimeout: 30_000, headersTimeout: 10_000, connectionsCheckingInterval: 1_000 };
const HANDSHAKE_MS = 10_000;
const MOST_CONNECTIONS = 100;
const CLOSE_MS = 1_000;

/** Opens a server. Rejects if the address cannot be opened. Throws if the certificate and the key cannot be used. */
export async function openReceiver({ host, port, tls }: ListenOptions, listener: RequestListener): Promise<Receiver> {
  const server: Server =
    tls === null
      ? createServer(LIMITS, listener)
      : createTlsServer({ ...LIMITS, ...tls, handshakeTimeout: HANDSHAKE_MS }, listener);
  server.maxConnections = MOST_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const timer = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
      await new Promise((resolve) => {
        server.close(resolve);
      });
      clearTimeout(timer);
    },
  };
}
