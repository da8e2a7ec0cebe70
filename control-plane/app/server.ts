import { formatAddress, ownAddress } from "#shared/settings/address.ts";
import { withoutTrailing } from "#shared/text/strip-trailing.ts";
import { CONTRACTS } from "#shared/tools/index.ts";
import type { Replica } from "#control-plane/app/replica.ts";
import { restWhenIdle } from "#control-plane/app/rest.ts";
import { registerAudit } from "#control-plane/people/audit/routes.ts";
import { registerBatches } from "#control-plane/checks/batches/routes.ts";
import { registerChanges } from "#control-plane/accounts/changes/routes.ts";
import { createGatedServer } from "#control-plane/accounts/gated-server.ts";
import { readIncidentEvidence } from "#control-plane/watching/evidence/requests.ts";
import type { Gate, Hook } from "#control-plane/http/gate.ts";
import { createServer, readTls } from "#control-plane/http/server.ts";
import { createWrites, type Writes } from "#control-plane/http/writes.ts";
import { createVisitLimiter } from "#control-plane/http/limits/visits.ts";
import { createIncidentWrites } from "#control-plane/outages/incidents/writes.ts";
import { createIncidentPages } from "#control-plane/public/incident-pages/incident-pages.ts";
import { registerIncidentPages } from "#control-plane/public/incident-pages/routes.ts";
import { createTestMails, type TestMails } from "#control-plane/notify/mail/test-mails.ts";
import { registerConfirmation } from "#control-plane/notify/mail/routes.ts";
import { registerUnsubscription } from "#control-plane/notify/mail/recipients/routes.ts";
import { registerMeasurements } from "#control-plane/checks/measurements/routes.ts";
import { registerHeartbeats } from "#control-plane/watching/heartbeats/routes.ts";
import type { HistoryMonitor } from "#control-plane/outages/history/ports.ts";
import { sessionCookieOf } from "#control-plane/surfaces/dashboard/session-guard/cookie.ts";
import { registerDashboard } from "#control-plane/surfaces/dashboard/dashboard.ts";
import { registerProbeRoutes } from "#control-plane/checks/probes/routes.ts";
import { registerAdminQueue } from "#control-plane/surfaces/operator/queues.ts";
import { refuseOthersAtDomains } from "#control-plane/public/status-pages/routes/own-domains.ts";
import { registerPublicPages } from "#control-plane/public/status-pages/routes/public-page.ts";
import { registerSharedPage } from "#control-plane/surfaces/share-page.ts";
import { createHome } from "#control-plane/surfaces/home.ts";
import { registerAdminProbes } from "#control-plane/surfaces/operator/probes.ts";
import { checkTool } from "#control-plane/surfaces/mcp/check-tool.ts";
import { getBatchTool } from "#control-plane/surfaces/mcp/get-batch.ts";
import { getMonitorTool } from "#control-plane/surfaces/mcp/get-monitor.ts";
import { getStatusPageTool } from "#control-plane/surfaces/mcp/get-status-page.ts";
import { listEventsTool } from "#control-plane/surfaces/mcp/list-events.ts";
import { listWebhooksTool } from "#control-plane/surfaces/mcp/list-webhooks.ts";
import { listMonitorsTool } from "#control-plane/surfaces/mcp/list-monitors.ts";
import { openProtocol } from "#control-plane/surfaces/mcp/open-protocol.ts";
import { registerMcp } from "#control-plane/surfaces/mcp/routes.ts";
import { createOpenChecks } from "#control-plane/surfaces/open-tier/open-checks.ts";
import { registerOpenTier } from "#control-plane/surfaces/open-tier/routes.ts";
import { registerAccount } from "#control-plane/surfaces/account.ts";
import { registerAccountMetrics } from "#control-plane/surfaces/account-metrics/routes.ts";
import { createScrapes } from "#control-plane/surfaces/account-metrics/scrape.ts";
import { registerBlackbox } from "#control-plane/surfaces/blackbox/routes.ts";
import { registerSubscriptions } from "#control-plane/public/status-pages/routes/subscriptions.ts";
import { addComponents } from "#control-plane/surfaces/api-document/components.ts";
import { collectRoutes, registerDocs } from "#control-plane/surfaces/api-document/routes.ts";
import { registerRegions } from "#control-plane/surfaces/catalogue/region-routes.ts";
import { registerAdminProbeLogs } from "#control-plane/surfaces/operator/probe-logs.ts";
import { registerAdminRequest } from "#control-plane/surfaces/operator/request.ts";
import { registerServiceDiscovery } from "#control-plane/surfaces/operator/service-discovery.ts";
import { findInstaller, type Installer } from "#control-plane/surfaces/install/installer.ts";
import { registerInstall } from "#control-plane/surfaces/install/routes.ts";
import { registerTools } from "#control-plane/surfaces/rest.ts";
import { registerCatalogue } from "#control-plane/surfaces/catalogue/routes.ts";
import { openTogether, type Teardown } from "#control-plane/core/teardown.ts";
import { registerUserRoutes } from "#control-plane/people/users/routes.ts";
import { createWebhookActions } from "#control-plane/notify/webhooks/actions.ts";
import { registerDeliveryLog } from "#control-plane/notify/webhooks/log/routes.ts";
import { registerWebhooks } from "#control-plane/notify/webhooks/routes.ts";
import { registerAdminWarnings } from "#control-plane/people/warnings/routes.ts";
import { openParts, type PartOptions, type Parts } from "#control-plane/app/parts.ts";
import type { AddressLimiter } from "#control-plane/http/access/ports.ts";
import type { Events } from "#control-plane/notify/events/events.ts";
import { registerIncidents } from "#control-plane/outages/incidents/routes.ts";
import { createWindowRows } from "#control-plane/outages/maintenance/document-rows.ts";
import { registerMaintenance } from "#control-plane/outages/maintenance/routes.ts";
import { registerMonitors } from "#control-plane/monitors/routes/routes.ts";
import { registerStatusPages } from "#control-plane/public/status-pages/routes/routes.ts";
import { ENOUGH_DESCRIPTORS } from "#shared/process/descriptor-limit.ts";
import { type ConnectionPlan, planConnections } from "#control-plane/checks/descriptors.ts";
import { CONNECTION_LIMITS, type ConnectionLimits } from "#control-plane/checks/dispatch/grpc/limits.ts";
import { listenGrpc } from "#control-plane/checks/dispatch/grpc.ts";
import { letClientsLeave } from "#control-plane/http/connection/leave.ts";
import { limitConnections } from "#control-plane/http/connection/connections.ts";
import type { Queryable } from "#control-plane/core/database/connect.ts";

type HttpServer = ReturnType<typeof createServer>;

/** A listening replica. */
interface Service {
  /** Ports in use; the chosen ones if 0 was configured. */
  readonly ports: { readonly http: number; readonly grpc: number };
  /** Becomes not ready, and answers until the clients have gone to other replicas, if there are any. */
  leave(): Promise<void>;
  /** Stops accepting requests, lets those in progress finish, then ends the agents' streams. */
  stop(): Promise<void>;
}

/** Time for requests in progress to finish when the process stops, milliseconds. */
const STOP_GRACE_MS = 10_000;
/** The same for background jobs; unfinished ones continue at another replica. */
const JOBS_GRACE_MS = 5_000;

/** Options of a replica besides its replica. */
export interface ServeOptions extends PartOptions {
  /** Connection limits that differ from those of a process with the usual number of descriptors. */
  readonly connections?: Partial<ConnectionPlan & ConnectionLimits>;
  /** Folder of this program, which has the files of agents if it is a package. */
  readonly root: string;
  /** Called when everything is open, before the service listens for requests. */
  readonly beforeListen?: () => Promise<void>;
}

/** Opens hub and surfaces over an open replica and listens. If a part cannot be opened, closes the others and rejects. */
export function serve(replica: Replica, options: ServeOptions): Promise<Service> {
  return openTogether(replica.log, (teardown) => openService(replica, options, teardown));
}

async function openService(replica: Replica, options: ServeOptions, teardown: Teardown): Promise<Service> {
  const { config, clock, log } = replica;
  const { registry } = replica.metrics;
  const unlimited = [...CONNECTION_LIMITS.unlimited, ...config.trustedProxies];
  const plan = { ...CONNECTION_LIMITS, ...planConnections(ENOUGH_DESCRIPTORS), unlimited, ...options.connections };
  const parts = await openParts(replica, options, teardown);
  const { hub, presence, probes, background } = parts;
  const { server, mcp } = await buildServer(replica, parts, options, teardown);

  await presence.start(hub.replicaId);
  limitConnections(server.server, plan.http, { clock, registry });
  const { security } = probes;
  const grpc = await listenGrpc({ hub, address: config.grpc, limits: plan, security, clock, log, registry });
  teardown.push(() => grpc.stop());
  // The listener waits for the agents' streams to end; the hub ends them.
  teardown.push(() => hub.stop());
  restWhenIdle(replica, {
    server: server.server,
    presence,
    replicaId: hub.replicaId,
    hasRemoteAgents: () => grpc.hasRemoteAgents(),
  });
  await options.beforeListen?.();
  await server.listen({ host: config.http.host, port: config.http.port });
  // Requests and jobs in progress need the agents: both finish before anything else closes.
  teardown.push(async () => {
    const force = setTimeout(() => server.server.closeAllConnections(), STOP_GRACE_MS);
    const closing = Promise.all([background.stop(JOBS_GRACE_MS), server.close(), mcp.close()]);
    await closing.finally(() => clearTimeout(force));
  });
  return {
    ports: { http: portOf(server.server.address()) ?? config.http.port, grpc: grpc.port },
    async leave() {
      replica.drain();
      if (presence.replicas().length > 1) await letClientsLeave(server.server);
    },
    stop() {
      replica.drain();
      return teardown.run();
    },
  };
}

function portOf(address: string | { readonly port: number } | null): number | null {
  return typeof address === "object" && address !== null ? address.port : null;
}

/** Creates the HTTP server with every surface; it does not listen yet. */
async function buildServer(replica: Replica, parts: Parts, { version, root }: ServeOptions, teardown: Teardown) {
  const { config } = replica;
  const { hub, presence, checks, background } = parts;
  const { monitors, statusPages } = background.monitoring;
  const slugOfDomain = (host: string) => statusPages.slugOfDomain(host);
  const refuse = refuseOthersAtDomains(slugOfDomain);
  const basePath = withoutTrailing(new URL(config.baseUrl).pathname, (character) => character === "/");
  // A status page is at the root of its own domain.
  const basePathOf = (host: string) => (slugOfDomain(host) === null ? basePath : "");
  const server = createServer({ ...replica, refuse, ...(basePath === "" ? {} : { basePathOf }) }, readTls(config.tls));
  teardown.push(() => server.close());
  await collectRoutes(server, { baseUrl: config.baseUrl, version });
  addComponents(server, CONTRACTS);
  const agents = () => Array.from(hub.roster.sessions()).length;
  const degraded = () => (presence.unadvertised().length > 0 ? ["grpc_advertise"] : []);
  const { gate, admin } = createGatedServer(replica, { agents, degraded, server });
  const mcp = openProtocol(
    [
      ...CONTRACTS.map((contract) => checkTool(checks, contract)),
      getBatchTool(background.batches),
      listMonitorsTool(monitors),
      getMonitorTool(monitors),
      getStatusPageTool(statusPages),
      listWebhooksTool(replica.sql, background.webhooks),
      listEventsTool(replica.sql, background.deliveries.log),
    ],
    version,
    (error) => replica.log.debug({ err: error }, "mcp: message refused"),
  );
  teardown.push(() => mcp.close());
  const testMails = createTestMails({
    ...replica,
    recipients: background.mail.recipients,
    deliveries: background.mail.sender === null ? null : background.deliveries,
  });
  registerCallers(server, replica, parts, gate, testMails);
  registerMcp(server, { gate, protocol: mcp, config });
  const installer = findInstaller(root, config);
  registerInstall(server, { ...replica, installer });
  registerOperator(server, replica, parts, { admin, installer });
  const { measurements, monitoring, webhooks } = background;
  const visits = createVisitLimiter(replica.clock);
  const { baseUrl } = config;
  const canMail = background.mail.sender !== null;
  await registerDashboard(server, {
    ...replica,
    users: parts.users,
    monitors,
    trials: background.monitoring.trials,
    history: background.monitoring.history,
    statusPages,
    subscribers: background.subscribers,
    pictures: background.monitoring.pictures,
    maintenance: background.monitoring.maintenance,
    webhooks,
    testMails,
    checks,
    presence,
    gate,
    measurements,
    visits,
    baseUrl,
    canMail,
    incidents: createIncidents(replica, background.events, background.monitoring),
    evidenceOf: readIncidentEvidence,
    canSignUp: config.signUp === "open",
  });
  registerAudit(server, admin, { ...replica, ...monitoring, measurements, webhooks, gate });
  await registerDocs(server);
  return { server, mcp };
}

/** Registers the routes of API callers. */
function registerCallers(server: HttpServer, replica: Replica, parts: Parts, gate: Gate, testMails: TestMails): void {
  const { config, clock } = replica;
  const { hub, presence, checks, openLimits, answers } = parts;
  const { measurements, batches, mail, subscribers, webhooks, events, deliveries, monitoring } = parts.background;
  const { timeoutMs } = config.webhooks;
  const webhookActions = createWebhookActions({ ...replica, deliveries, timeoutMs });
  registerTools(server, checks, gate, CONTRACTS, measurements);
  const { record } = replica.changes;
  const writes = createWrites({ ...replica, answers, record });
  registerMeasurements(server, CONTRACTS, { checks, gate, writes, measurements });
  registerBatches(server, { gate, writes, batches });
  // One limit for all that anyone can read.
  const visits = createVisitLimiter(clock);
  registerMonitoring(server, replica, monitoring, { gate, writes, events, testMails, visits });
  registerWebhooks(server, { gate, writes, sql: replica.sql, webhooks, actions: webhookActions });
  registerDeliveryLog(server, { gate, sql: replica.sql, log: deliveries.log });
  registerSubscriptions(server, { clock, pages: monitoring.statusPages, subscribers });
  registerHeartbeats(server, { clock, pings: monitoring.pings });
  registerSharedPage(server, { visits, measurements, clock });
  const { baseUrl } = config;
  const { registry } = replica.metrics;
  const open = createOpenChecks({ checks, ...openLimits, registry });
  const sessionOf = async (request: Parameters<typeof sessionCookieOf>[0]) => {
    const token = sessionCookieOf(request);
    return token === null ? null : await parts.users.sessions.find(token);
  };
  const memberOf = async (request: Parameters<typeof sessionCookieOf>[0]) => (await sessionOf(request))?.email ?? null;
  const home = createHome(CONTRACTS, { open, clock, baseUrl, memberOf });
  const memberAccount = async (request: Parameters<typeof sessionCookieOf>[0]) =>
    (await sessionOf(request))?.accountId ?? null;
  registerPublicPages(server, { clock, gate, visits, memberAccount, pages: monitoring.statusPages, baseUrl, home });
  registerConfirmation(server, { clock, recipients: mail.recipients });
  const { recipients, unsubscriptions } = mail;
  registerUnsubscription(server, { clock, unsubscriptions });
  const linked = { ...replica, baseUrl: config.baseUrl, events, recipients, pictures: monitoring.pictures };
  const pages = createIncidentPages({ ...linked, evidenceOf: readIncidentEvidence });
  registerIncidentPages(server, { clock, pages });
  registerOpenTier(server, CONTRACTS, { open, baseUrl });
  registerBlackbox(server, checks, gate, parts.fileModules);
  const { history } = monitoring;
  const readUptimes = (listed: readonly HistoryMonitor[]) => history.uptimes(listed);
  registerAccountMetrics(server, {
    gate,
    scrape: createScrapes({ ...replica, readUptimes }),
  });
  const { monitors } = monitoring;
  registerAccount(server, {
    gate,
    count: async (accountId) => {
      const nothing = { limit: 0, offset: 0 };
      const [monitorPage, keyPage, subscriptions] = await Promise.all([
        monitors.list(accountId, {}, nothing),
        replica.keys.list({ accountId }, nothing.limit, nothing.offset),
        webhooks.list(replica.sql, accountId),
      ]);
      return { monitors: monitorPage.total, webhooks: subscriptions.length, keys: keyPage.total };
    },
  });
  registerChanges(server, { gate, sql: replica.sql, changes: replica.changes });
  registerCatalogue(server, gate, CONTRACTS);
  registerRegions(server, gate, hub.roster, presence);
}

/** What the routes of monitors and their incidents share with others. */
interface Shared {
  readonly gate: Gate;
  readonly writes: Writes;
  readonly events: Events;
  readonly testMails: TestMails;
  /** Limits reads of status pages without a key by client address. */
  readonly visits: AddressLimiter;
}

/** Registers the routes of monitors, incidents, maintenance and status pages. */
function registerMonitoring(
  server: HttpServer,
  replica: Replica,
  monitoring: Parts["background"]["monitoring"],
  shared: Shared,
): void {
  const deps = { ...replica, ...monitoring, ...shared };
  const { statusPages } = monitoring;
  registerMonitors(server, { ...deps, parts: [statusPages.rows, createWindowRows(deps)] });
  registerMaintenance(server, deps);
  registerIncidents(server, {
    ...deps,
    incidents: createIncidents(replica, shared.events, monitoring),
    evidenceOf: readIncidentEvidence,
    nameCaller: (on, { keyId }) => replica.keys.label(on, keyId),
  });
  registerStatusPages(server, { ...deps, pages: statusPages });
}

/** Creates the writes of incidents, which ask about the monitors and pages that they name. */
function createIncidents(
  { clock }: Replica,
  events: Events,
  { monitors, statusPages }: Parts["background"]["monitoring"],
) {
  return createIncidentWrites({
    clock,
    events,
    monitorsOf: async (on: Queryable, accountId: number, ids: readonly number[]) => [
      ...(await monitors.owned(on, accountId, ids)),
    ],
    pagesOf: (on: Queryable, accountId: number, ids: readonly number[]) => statusPages.owned(on, accountId, ids),
  });
}

/** Registers the routes of the operator. */
function registerOperator(
  server: HttpServer,
  replica: Replica,
  parts: Parts,
  { admin, installer }: { readonly admin: Hook; readonly installer: Installer | null },
): void {
  const { hub, probes, background, listing, warnings, users } = parts;
  registerAdminQueue(server, admin, background);
  registerAdminProbes(server, admin, listing);
  registerAdminProbeLogs(server, admin, { probes: listing, hub });
  registerServiceDiscovery(server, admin, listing, replica.config.baseUrl);
  registerAdminWarnings(server, admin, warnings);
  registerAdminRequest(server, admin, replica.config);
  const { grpc, grpcAdvertise } = replica.config;
  registerProbeRoutes(server, admin, probes, {
    controlPlane: grpcAdvertise ?? formatAddress(ownAddress(grpc)),
    lineFor: installer === null ? null : (joining) => installer.lineFor(joining),
  });
  const { record } = replica.changes;
  registerUserRoutes(server, admin, { ...replica, users, record, baseUrl: replica.config.baseUrl });
}
