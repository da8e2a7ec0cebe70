import { ENOUGH_DESCRIPTORS } from "#shared/process/descriptor-limit.ts";
import type { App } from "#control-plane/app/app.ts";
import { planConnections, type ConnectionPlan } from "#control-plane/checks/descriptors.ts";
import { CONNECTION_LIMITS, type ConnectionLimits } from "#control-plane/checks/dispatch/grpc/limits.ts";
import { listenGrpc } from "#control-plane/checks/dispatch/grpc.ts";
import { limitConnections } from "#control-plane/http/connection/connections.ts";
import { openTogether, type Teardown } from "#control-plane/core/teardown.ts";
import { buildServer } from "#control-plane/app/build-server.ts";
import { openParts, type PartOptions } from "#control-plane/app/open-parts.ts";

/** A listening replica. */
interface Service {
  /** Ports in use; the chosen ones if 0 was configured. */
  readonly ports: { readonly http: number; readonly grpc: number };
  /** Stops accepting requests, lets those in progress finish, then ends the agents' streams. */
  stop(): Promise<void>;
}

/** Time for requests in progress to finish when the process stops, milliseconds. */
const STOP_GRACE_MS = 10_000;
/** The same for background jobs; unfinished ones continue at another replica. */
const JOBS_GRACE_MS = 5_000;

/** Options of a replica besides its app. */
export interface ServeOptions extends PartOptions {
  /** Connection limits that differ from those of a process with the usual number of descriptors. */
  readonly connections?: Partial<ConnectionPlan & ConnectionLimits>;
}

/** Opens hub and surfaces over an open app and listens. If a part cannot be opened, closes the others and rejects. */
export function serve(app: App, options: ServeOptions): Promise<Service> {
  return openTogether(app.log, (teardown) => openService(app, options, teardown));
}

async function openService(app: App, options: ServeOptions, teardown: Teardown): Promise<Service> {
  const { config, clock, log } = app;
  const { registry } = app.metrics;
  const unlimited = [...CONNECTION_LIMITS.unlimited, ...config.trustedProxies];
  const plan = { ...CONNECTION_LIMITS, ...planConnections(ENOUGH_DESCRIPTORS), unlimited, ...options.connections };
  const parts = await openParts(app, options, teardown);
  const { hub, presence, probes, background } = parts;
  const { server, mcp } = await buildServer(app, parts, options.version, teardown);

  await presence.start(hub.replicaId);
  limitConnections(server.server, plan.http, { clock, registry });
  const { security } = probes;
  const grpc = await listenGrpc({ hub, address: config.grpc, limits: plan, security, clock, log, registry });
  teardown.push(() => grpc.stop());
  // The listener waits for the agents' streams to end; the hub ends them.
  teardown.push(() => hub.stop());
  await server.listen({ host: config.http.host, port: config.http.port });
  // Requests and jobs in progress need the agents: both finish before anything else closes.
  teardown.push(async () => {
    const force = setTimeout(() => server.server.closeAllConnections(), STOP_GRACE_MS);
    const closing = Promise.all([background.stop(JOBS_GRACE_MS), server.close(), mcp.close()]);
    await closing.finally(() => clearTimeout(force));
  });
  return {
    ports: { http: portOf(server.server.address()) ?? config.http.port, grpc: grpc.port },
    stop() {
      app.drain();
      return teardown.run();
    },
  };
}

function portOf(address: string | { readonly port: number } | null): number | null {
  return typeof address === "object" && address !== null ? address.port : null;
}
