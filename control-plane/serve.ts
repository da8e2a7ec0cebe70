import { readFileSync } from "node:fs";
import { ENOUGH_DESCRIPTORS } from "#shared/process/descriptor-limit.ts";
import { CONTRACTS } from "#shared/tools/index.ts";
import type { Denials } from "#shared/egress.ts";
import type { App } from "#control-plane/app.ts";
import { registerBatches } from "#control-plane/batches/routes.ts";
import { openChecks } from "#control-plane/checks/open.ts";
import { planConnections, type ConnectionPlan } from "#control-plane/descriptors.ts";
import { CONNECTION_LIMITS, type ConnectionLimits } from "#control-plane/dispatch/grpc/limits.ts";
import { listenGrpc } from "#control-plane/dispatch/grpc.ts";
import { createHub } from "#control-plane/dispatch/hub.ts";
import { limitConnections } from "#control-plane/http/connection/connections.ts";
import { createGatedServer } from "#control-plane/gated-server.ts";
import type { Gate, Hook } from "#control-plane/http/gate.ts";
import { createServer, type ServerTls } from "#control-plane/http/server.ts";
import { createWrites } from "#control-plane/http/writes.ts";
import { createAnswers } from "#control-plane/idempotency/answers.ts";
import { openAnonymousLimits } from "#control-plane/limits/open-tier.ts";
import { openBackground } from "#control-plane/background.ts";
import { openJobInputs } from "#control-plane/job-inputs/open.ts";
import { registerConfirmation } from "#control-plane/mail/routes.ts";
import { registerMeasurements } from "#control-plane/measurements/routes.ts";
import { registerHeartbeats } from "#control-plane/heartbeats/routes.ts";
import type { HistoryMonitor } from "#control-plane/monitors/history/ports.ts";
import { registerMonitoring } from "#control-plane/monitoring-routes.ts";
import { openProbes } from "#control-plane/probes/probes.ts";
import { registerProbeRoutes } from "#control-plane/probes/routes.ts";
import { createProbeListing } from "#control-plane/probes/listing.ts";
import { openPresence } from "#control-plane/probes/presence/open.ts";
import { registerAdminQueue } from "#control-plane/surfaces/operator/queues.ts";
import { registerPublicPages } from "#control-plane/status-pages/routes/public-page.ts";
import { registerSharedPage } from "#control-plane/surfaces/share-page/routes.ts";
import { registerAdminProbes } from "#control-plane/surfaces/operator/probes.ts";
import { checkTool } from "#control-plane/surfaces/mcp/check-tool.ts";
import { getBatchTool } from "#control-plane/surfaces/mcp/get-batch.ts";
import { getMonitorTool } from "#control-plane/surfaces/mcp/get-monitor.ts";
import { getStatusPageTool } from "#control-plane/surfaces/mcp/get-status-page.ts";
import { listMonitorsTool } from "#control-plane/surfaces/mcp/list-monitors.ts";
import { createProtocol } from "#control-plane/surfaces/mcp/protocol.ts";
import { registerMcp } from "#control-plane/surfaces/mcp/routes.ts";
import { registerOpenTier } from "#control-plane/surfaces/open-tier/routes.ts";
import { registerAccountMetrics } from "#control-plane/surfaces/account-metrics/routes.ts";
import { createScrapes } from "#control-plane/surfaces/account-metrics/scrape.ts";
import { registerBlackbox } from "#control-plane/surfaces/blackbox/routes.ts";
import { registerSubscriptions } from "#control-plane/status-pages/routes/subscriptions.ts";
import { addComponents } from "#control-plane/surfaces/api-document/components.ts";
import { collectRoutes, registerDocs } from "#control-plane/surfaces/api-document/routes.ts";
import { registerRegions } from "#control-plane/surfaces/catalogue/region-routes.ts";
import { registerServiceDiscovery } from "#control-plane/surfaces/operator/service-discovery.ts";
import { registerTools } from "#control-plane/surfaces/rest/routes.ts";
import { registerCatalogue } from "#control-plane/surfaces/catalogue/routes.ts";
import { openTogether, type Teardown } from "#control-plane/teardown.ts";
import { registerAdminWarnings } from "#control-plane/warnings/routes.ts";
import { openWarnings } from "#control-plane/warnings/warnings.ts";

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
export interface ServeOptions {
  readonly version: string;
  /** Names and addresses that asked not to be checked. */
  readonly optOut?: Denials;
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
  const plan = { ...CONNECTION_LIMITS, ...planConnections(ENOUGH_DESCRIPTORS), ...options.connections };
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

type HttpServer = ReturnType<typeof createServer>;

/** Components that the surfaces use. */
type Parts = Awaited<ReturnType<typeof openParts>>;

/** Opens presence, hub, enrolment, checks, limits and background work, each with its teardown. */
async function openParts(app: App, { optOut }: ServeOptions, teardown: Teardown) {
  const { clock, random, log } = app;
  const { registry } = app.metrics;
  const presence = openPresence({ ...app, registry });
  teardown.push(() => presence.stop());
  const hub = createHub({ clock, random, log, registry, presence });
  teardown.push(() => hub.stop());
  const probes = await openProbes({ ...app, registry });
  teardown.push(() => probes.close());
  probes.security.gatekeeper.onChange((agentId, enrolled) => hub.applyEnrolment(agentId, enrolled));
  const jobInputs = openJobInputs(app);
  teardown.push(() => jobInputs.close());
  const { inputs } = jobInputs;
  const openedChecks = openChecks({ ...app, registry, hub, inputs, ...(optOut === undefined ? {} : { optOut }) });
  teardown.push(() => openedChecks.close());
  const { checks } = openedChecks;
  const openLimits = openAnonymousLimits(app);
  teardown.push(() => openLimits.close());
  const answers = createAnswers(app);
  teardown.push(() => answers.close());
  const background = await openBackground({ ...app, registry }, checks, CONTRACTS);
  teardown.push(() => background.stop(0));
  const listing = createProbeListing({ ...app, roster: hub.roster, replicaId: hub.replicaId });
  const { deliveries, mail } = background;
  const warnings = openWarnings({
    ...app,
    registry,
    probes: listing,
    deliveries,
    isMailConfigured: mail.sender !== null,
  });
  teardown.push(() => warnings.stop());
  return { presence, hub, probes, checks, openLimits, answers, background, listing, warnings };
}

/** Creates the HTTP server with every surface; it does not listen yet. */
async function buildServer(app: App, parts: Parts, version: string, teardown: Teardown) {
  const { config } = app;
  const { hub, presence, checks, background } = parts;
  const { monitors, statusPages } = background.monitoring;
  const server = createServer(app, readTls(config.tls));
  teardown.push(() => server.close());
  await collectRoutes(server, { baseUrl: config.baseUrl, version });
  addComponents(server, CONTRACTS);
  const agents = () => Array.from(hub.roster.sessions()).length;
  const degraded = () => (presence.unadvertised().length > 0 ? ["grpc_advertise"] : []);
  const { gate, admin } = createGatedServer(app, { agents, degraded, server });
  const mcp = createProtocol(
    [
      ...CONTRACTS.map((contract) => checkTool(checks, contract)),
      getBatchTool(background.batches),
      listMonitorsTool(monitors),
      getMonitorTool(monitors),
      getStatusPageTool(statusPages),
    ],
    version,
    (error) => app.log.debug({ err: error }, "mcp: message refused"),
  );
  teardown.push(() => mcp.close());
  registerCallers(server, app, parts, gate);
  registerMcp(server, { gate, protocol: mcp, baseUrl: config.baseUrl });
  registerOperator(server, app, parts, admin);
  await registerDocs(server);
  return { server, mcp };
}

/** Registers the routes of API callers. */
function registerCallers(server: HttpServer, app: App, parts: Parts, gate: Gate): void {
  const { config, clock } = app;
  const { hub, presence, checks, openLimits, answers } = parts;
  const { measurements, batches, mail, subscribers, events, monitoring } = parts.background;
  registerTools(server, checks, gate, CONTRACTS, measurements);
  const writes = createWrites({ sql: app.sql, metrics: app.metrics, answers });
  registerMeasurements(server, { checks, gate, writes, measurements, contracts: CONTRACTS });
  registerBatches(server, { gate, writes, batches });
  registerMonitoring(server, { ...app, ...monitoring, gate, writes, events });
  registerSubscriptions(server, { clock, pages: monitoring.statusPages, subscribers });
  registerHeartbeats(server, { clock, pings: monitoring.pings });
  registerSharedPage(server, { clock, measurements });
  registerPublicPages(server, { clock, gate, pages: monitoring.statusPages, baseUrl: config.baseUrl });
  registerConfirmation(server, { clock, recipients: mail.recipients });
  const { registry } = app.metrics;
  registerOpenTier(server, CONTRACTS, { checks, ...openLimits, registry, baseUrl: config.baseUrl });
  registerBlackbox(server, checks, gate);
  const { history } = monitoring;
  const readUptimes = (listed: readonly HistoryMonitor[]) => history.uptimes(listed);
  registerAccountMetrics(server, {
    gate,
    scrape: createScrapes({ ...app, readUptimes }),
  });
  registerCatalogue(server, gate, CONTRACTS);
  registerRegions(server, gate, hub.roster, presence);
}

/** Registers the routes of the operator. */
function registerOperator(server: HttpServer, app: App, parts: Parts, admin: Hook): void {
  const { probes, background, listing, warnings } = parts;
  registerAdminQueue(server, admin, background);
  registerAdminProbes(server, admin, listing);
  registerServiceDiscovery(server, admin, listing, app.config.baseUrl);
  registerAdminWarnings(server, admin, warnings);
  registerProbeRoutes(server, admin, probes);
}

function readTls(tls: App["config"]["tls"]): ServerTls | undefined {
  return tls === null ? undefined : { cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) };
}

function portOf(address: string | { readonly port: number } | null): number | null {
  return typeof address === "object" && address !== null ? address.port : null;
}
