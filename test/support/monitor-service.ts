import { Registry } from "prom-client";
import type { Logger } from "pino";
import { createEgress } from "#shared/internet/egress.ts";
import { createLog } from "#shared/process/log.ts";
import type { Hello } from "#shared/protocol/probe.ts";
import { CONTRACTS } from "#shared/tools/index.ts";
import { openReplica, type Replica, type ReplicaConfig, type ReplicaOverrides } from "#control-plane/app/replica.ts";
import { createFailingReceivers } from "#control-plane/notify/deliveries/failing.ts";
import { openDeliveries } from "#control-plane/notify/deliveries/deliveries.ts";
import { createResultCache } from "#control-plane/checks/cache.ts";
import { runCheck } from "#control-plane/checks/run-check.ts";
import { createHub, type Hub } from "#control-plane/checks/dispatch/hub.ts";
import { createEvents } from "#control-plane/notify/events/events.ts";
import { readMailLines } from "#control-plane/watching/evidence/requests.ts";
import { registerChanges } from "#control-plane/accounts/changes/routes.ts";
import { createGatedServer } from "#control-plane/accounts/gated-server.ts";
import { createHeartbeats } from "#control-plane/watching/heartbeats/heartbeats.ts";
import { readHeartbeatMailDetails } from "#control-plane/watching/heartbeats/mail-details.ts";
import { createHistory } from "#control-plane/outages/history/history.ts";
import { DAY_MS } from "#control-plane/outages/history/period.ts";
import { createServer } from "#control-plane/http/server.ts";
import { createWrites } from "#control-plane/http/writes.ts";
import { createAnswers } from "#control-plane/http/idempotency/answers.ts";
import { createPageLink } from "#control-plane/public/incident-pages/link.ts";
import { openMail } from "#control-plane/notify/mail/mail.ts";
import { createTestMails } from "#control-plane/notify/mail/test-mails.ts";
import { coveredBetween } from "#control-plane/outages/maintenance/coverage/coverage.ts";
import { createWindowRows } from "#control-plane/outages/maintenance/document-rows.ts";
import { createMaintenance } from "#control-plane/outages/maintenance/maintenance.ts";
import { createMonitors, type Monitors } from "#control-plane/monitors/monitors.ts";
import { registerMonitors } from "#control-plane/monitors/routes/routes.ts";
import { readOwned } from "#control-plane/monitors/store.ts";
import { createTrials, type Trials } from "#control-plane/monitors/try/try.ts";
import { createPictures } from "#control-plane/watching/pictures/pictures.ts";
import { readPicture } from "#control-plane/watching/pictures/store.ts";
import type { Plans } from "#control-plane/core/plans.ts";
import { createPageRows } from "#control-plane/public/status-pages/document-rows.ts";
import { addComponents } from "#control-plane/surfaces/api-document/components.ts";
import { collectRoutes, registerDocs } from "#control-plane/surfaces/api-document/routes.ts";
import { createWebhookActions } from "#control-plane/notify/webhooks/actions.ts";
import { registerWebhooks } from "#control-plane/notify/webhooks/routes.ts";
import { createWebhooks } from "#control-plane/notify/webhooks/webhooks.ts";
import { attachAgent, type AttachedAgent } from "#test/support/attached-agent.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { ADMIN_TOKEN, apiOf, type TestControlPlane } from "#test/support/control-plane.ts";
import { MASTER_KEY } from "#test/support/master-key.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { helloOf } from "#test/support/scripted-agent.ts";
import { WIDE_PLANS } from "#test/support/wide-plans.ts";
import { liveTimers } from "#test/support/timers.ts";

/** A replica with the operations on monitors and webhooks, without checks and deliveries, on loopback. */
export interface MonitorService extends Pick<TestControlPlane, "call" | "operate" | "createKey"> {
  readonly app: Replica<ReplicaConfig>;
  readonly hub: Hub;
  readonly monitors: Monitors;
  readonly trials: Trials;
  readonly url: string;
  readonly databaseUrl: string;
  /** Log lines so far. */
  readonly lines: string[];
  /** Attaches an agent of a region in this process. `work`, if given, answers each of its jobs. */
  attach(region: string, over?: Partial<Hello>, work?: Parameters<typeof attachAgent>[3]): AttachedAgent;
  stop(): Promise<void>;
}

/** Parts that a test replaces. */
export interface MonitorServiceOptions {
  readonly plans?: Plans;
  readonly overrides?: ReplicaOverrides;
  /** For a second replica on this database. The first one drops the database. */
  readonly databaseUrl?: string;
  readonly v1V2Sunset?: Date;
}

const BASE_URL = "http://127.0.0.1";
/** Mails wait for a server: nothing listens there, and this replica sends nothing. */
const MAIL_SERVER = { host: "127.0.0.1", port: 1, tls: "never", isVerified: true, credentials: null } as const;

/** Starts a replica. Call `stop` in afterAll. */
export async function startMonitorService(options: MonitorServiceOptions = {}): Promise<MonitorService> {
  const { databaseUrl } = options;
  const database =
    databaseUrl === undefined ? await createTestDatabase() : { url: databaseUrl, drop: () => Promise.resolve() };
  const lines: string[] = [];
  const log: Logger = createLog({ level: "trace", destination: { write: (line: string) => void lines.push(line) } });
  const plans = options.plans ?? WIDE_PLANS;
  const v1V2Sunset = options.v1V2Sunset ?? new Date("2999-01-01T00:00:00Z");
  const app = await openReplica(
    {
      config: { databaseUrl: database.url, trustedProxies: [], v1V2Sunset },
      adminToken: ADMIN_TOKEN,
      masterKey: MASTER_KEY,
      plans,
      hostClock: systemClock,
      random: systemRandom,
      log,
    },
    options.overrides,
  );
  const hub = createHub({ clock: app.clock, random: systemRandom, log, registry: new Registry() });
  const keeping = { ...app, baseUrl: BASE_URL, retentionMs: 90 * DAY_MS };
  const history = createHistory({ ...keeping, maintenanceBetween: coveredBetween });
  const events = createEvents({ ...app, sources: [] });
  const pictures = createPictures({ ...keeping, events });
  const mail = openMail({
    ...keeping,
    config: { server: MAIL_SERVER, from: "alerts@example.com" },
    accountEmails: (on, ids) => app.accounts.emails(on, ids),
    evidenceLines: readMailLines,
    heartbeatFacts: readHeartbeatMailDetails,
    pageLink: createPageLink(app.encryption, BASE_URL),
    readPicture,
  });
  const monitors = createMonitors({ ...app, checks: { hub }, history, heartbeats: createHeartbeats(keeping), mail });
  const server = createServer(app);
  await collectRoutes(server, { baseUrl: BASE_URL, version: "0.0.0-test" });
  addComponents(server, CONTRACTS);
  const { gate } = createGatedServer(app, { agents: () => 0, server });
  const answers = createAnswers(app);
  const writes = createWrites({ ...app, answers, record: app.changes.record });
  const maintenance = createMaintenance({
    timers: liveTimers,
    sql: app.sql,
    clock: app.clock,
    log,
    monitorsOf: readOwned,
  });
  const parts = [
    createPageRows({ clock: app.clock, random: app.random, ownHost: "127.0.0.1" }),
    createWindowRows({ clock: app.clock, maintenance, events }),
  ];
  const testMails = createTestMails({ ...app, recipients: mail.recipients, deliveries: null });
  const checks = { hub, clock: app.clock, results: createResultCache(app.clock) };
  const trials = createTrials({ ...app, checks, run: (request) => runCheck(checks, request) });
  registerMonitors(server, { ...app, gate, writes, monitors, trials, testMails, history, pictures, parts });
  const webhooks = createWebhooks({
    ...app,
    egress: createEgress({ targets: [], names: [] }),
    failing: createFailingReceivers("webhook"),
    ensureOwnAddress: (tx, accountId) => mail.recipients.ensureRecipients(tx, accountId, null),
  });
  const noteMailed = () => Promise.resolve();
  const deliveries = openDeliveries({ ...keeping, registry: new Registry(), senders: [], noteMailed });
  const actions = createWebhookActions({ ...app, deliveries, timeoutMs: 1_000 });
  registerWebhooks(server, { gate, writes, sql: app.sql, webhooks, actions });
  registerChanges(server, { ...app, gate });
  await registerDocs(server);
  const url = await server.listen({ host: "127.0.0.1", port: 0 });
  const agents = new Set<AttachedAgent>();
  // A silent agent is lost.
  const beats = setInterval(() => {
    for (const agent of agents) if (!agent.closed) agent.beat(10);
  });
  return {
    app,
    hub,
    monitors,
    trials,
    url,
    databaseUrl: database.url,
    lines,
    ...apiOf(url),
    attach(region, over, work) {
      const agent = attachAgent(hub, helloOf(region, { agentId: `agent-in-${region}`, ...over }), {}, work);
      agents.add(agent);
      return agent;
    },
    async stop() {
      clearInterval(beats);
      await server.close();
      await deliveries.stop(0);
      answers.close();
      maintenance.close();
      mail.close();
      pictures.close();
      hub.stop();
      await app.close();
      await database.drop();
    },
  };
}
