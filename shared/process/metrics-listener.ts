import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Registry } from "prom-client";
import { hasErrorCode } from "#shared/contracts/error-code.ts";
import { collectProcessMetrics } from "#shared/process/process-metrics.ts";
import { cutStalledClients, type StallOptions } from "#shared/process/stalled-clients.ts";

/** An open listener for metrics. */
export interface MetricsListener {
  readonly host: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Options of the listener. */
interface MetricsListenerOptions {
  readonly registry: Registry;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** true: use a free port if this one is in use, because several agents on one host have the same default port. */
  readonly orFree?: boolean;
  /** When to disconnect a client that does not read; by default after 30 s. */
  readonly stall?: StallOptions;
}

/** Time in milliseconds in which the first values of the event loop's delay arise. */
const FIRST_VALUES_MS = 50;

/**
 * Creates a renderer of a registry's metrics. Requests during one rendering share its result. Those of the process begin
 * with the first request: measuring the event loop's delay wakes the process a hundred times a second.
 */
function createRendering(registry: Registry): () => Promise<Buffer> {
  let current: Promise<Buffer> | null = null;
  let isMeasuring = false;

  async function render(): Promise<Buffer> {
    if (!isMeasuring) {
      isMeasuring = true;
      collectProcessMetrics(registry);
      await sleep(FIRST_VALUES_MS);
    }
    return Buffer.from(await registry.metrics());
  }

  return () => {
    current ??= render().finally(() => {
      current = null;
    });
    return current;
  };
}

/** A scraper needs one connection. The process reserves descriptors for this many (control-plane/checks/descriptors.ts). */
const MOST_CONNECTIONS = 64;

/** Serves GET /metrics on a separate address: callers of the API must not see the metrics. */
export async function listenMetrics(options: MetricsListenerOptions): Promise<MetricsListener> {
  const render = createRendering(options.registry);
  const clients = cutStalledClients(options.stall);
  const server = createServer((request, response) => {
    const path = request.url?.split("?", 1)[0];
    if (path !== "/metrics" || (request.method !== "GET" && request.method !== "HEAD")) {
      response.writeHead(path === "/metrics" ? 405 : 404, path === "/metrics" ? { allow: "GET, HEAD" } : {}).end();
      return;
    }
    render().then(
      (figures) => response.writeHead(200, { "content-type": options.registry.contentType }).end(figures),
      () => response.writeHead(500).end(),
    );
  });
  server.on("connection", (socket) => clients.watch(socket));
  server.on("close", () => clients.close());
  server.maxConnections = MOST_CONNECTIONS;
  server.requestTimeout = 10_000;
  server.headersTimeout = 5_000;
  try {
    await listen(server, options.port, options.host);
  } catch (error) {
    if (!hasErrorCode(error, "EADDRINUSE") || options.orFree !== true) throw error;
    await listen(server, 0, options.host);
  }
  return {
    host: options.host,
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}
