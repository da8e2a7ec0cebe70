import { CONTRACTS } from "#shared/tools/index.ts";
import { createEgress, type Denials } from "#shared/internet/egress.ts";
import { userAgent } from "#shared/process/user-agent.ts";
import type { Replica } from "#control-plane/app/replica.ts";
import { openChecks } from "#control-plane/checks/open.ts";
import type { RunBackup } from "#control-plane/backups/schedule/runner.ts";
import { openSchedule } from "#control-plane/backups/schedule/schedule.ts";
import { createHub } from "#control-plane/checks/dispatch/hub.ts";
import { createAnswers } from "#control-plane/http/idempotency/answers.ts";
import { openAnonymousLimits } from "#control-plane/http/limits/open-tier.ts";
import { openJobInputs } from "#control-plane/checks/job-inputs.ts";
import { openProbes } from "#control-plane/checks/probes/probes.ts";
import { createProbeListing } from "#control-plane/checks/probes/listing.ts";
import { openPresence } from "#control-plane/checks/probes/presence/open.ts";
import { openTogether, type Teardown } from "#control-plane/core/teardown.ts";
import { createUsers } from "#control-plane/people/users/users.ts";
import { openWarnings } from "#control-plane/people/warnings/warnings.ts";
import type { Registry } from "prom-client";
import type { CheckContext } from "#control-plane/checks/context.ts";
import { createBatches } from "#control-plane/checks/batches/batches.ts";
import { readMailLines, requestEvidence } from "#control-plane/watching/evidence/requests.ts";
import { readHeartbeatMailDetails } from "#control-plane/watching/heartbeats/mail-details.ts";
import { createPageLink } from "#control-plane/public/incident-pages/link.ts";
import { createFailingReceivers } from "#control-plane/notify/deliveries/failing.ts";
import { openDeliveries } from "#control-plane/notify/deliveries/deliveries.ts";
import { createEvents, type Events } from "#control-plane/notify/events/events.ts";
import { noteMailed } from "#control-plane/outages/incidents/mailed.ts";
import { createJobs } from "#control-plane/checks/jobs.ts";
import { registerQueueMetrics } from "#control-plane/checks/jobs/metrics.ts";
import { type Mail, openMail } from "#control-plane/notify/mail/mail.ts";
import { createMeasurementMetrics } from "#control-plane/checks/measurements/metrics.ts";
import { createMeasurements } from "#control-plane/checks/measurements/measurements.ts";
import { countUnfinished } from "#control-plane/checks/measurements/upkeep-store.ts";
import { createWatch } from "#control-plane/checks/measurements/watch.ts";
import { readOwned, readTags } from "#control-plane/monitors/store.ts";
import { readPicture } from "#control-plane/watching/pictures/store.ts";
import { createSubscribers } from "#control-plane/public/status-pages/subscribers/subscribers.ts";
import { startDeactivation } from "#control-plane/notify/webhooks/deactivate.ts";
import { createWebhookSender } from "#control-plane/notify/webhooks/send/sender.ts";
import { createWebhookSource } from "#control-plane/notify/webhooks/source.ts";
import { createWebhooks } from "#control-plane/notify/webhooks/webhooks.ts";
import { openChecking } from "#control-plane/watching/checking/open.ts";
import { requestChecksAfter } from "#control-plane/watching/checking/schedule/schedule.ts";
import { runCheck } from "#control-plane/checks/run-check.ts";
import { openEvidence } from "#control-plane/watching/evidence/open.ts";
import { openExpiry } from "#control-plane/watching/expiry/expiry.ts";
import { createHeartbeats } from "#control-plane/watching/heartbeats/heartbeats.ts";
import { openPings } from "#control-plane/watching/heartbeats/open.ts";
import { openHistory } from "#control-plane/outages/history/history.ts";
import { coveredBetween } from "#control-plane/outages/maintenance/coverage/coverage.ts";
import { openMaintenance } from "#control-plane/outages/maintenance/maintenance.ts";
import { createMonitors } from "#control-plane/monitors/monitors.ts";
import { createTrials } from "#control-plane/monitors/try/try.ts";
import { openPictures } from "#control-plane/watching/pictures/pictures.ts";
import { createFileModules, type OperatorModules } from "#control-plane/surfaces/blackbox/file-modules.ts";
import { openStatusPages } from "#control-plane/public/status-pages/status-pages.ts";

/** Options of the components. */
export interface PartOptions {
  readonly version: string;
  /** Address of the product, which requests name unless the settings have a contact. */
  readonly homepage: string;
  /** Names and addresses that asked not to be checked. */
  readonly optOut?: Denials;
  /** Modules of the operator's file for /api/v4/probe; null: there is none. */
  readonly operatorModules?: OperatorModules | null;
  /** Makes a backup by schedule; without it each fails. */
  readonly runBackup?: RunBackup;
}

const NO_BACKUPS: RunBackup = () => Promise.resolve({ status: 5, line: "this process makes no backups" });

/** Components that the surfaces use. */
export type Parts = Awaited<ReturnType<typeof openParts>>;

/** What the parts are given: the values of the replica, and those of its metrics and requests. */
interface PartDeps extends Replica {
  readonly registry: Registry;
  /** User-Agent of the requests that this process sends. */
  readonly userAgent: string;
}

/** Opens presence, hub, enrolment, checks, limits and background work, each with its teardown. */
export async function openParts(replica: Replica, options: PartOptions, teardown: Teardown) {
  const { optOut, operatorModules = null, version, homepage } = options;
  const { clock, random, log } = replica;
  const { registry } = replica.metrics;
  const deps = { ...replica, registry, userAgent: userAgent(version, replica.config.contactUrl ?? homepage) };
  const presence = openPresence(deps);
  teardown.push(() => presence.stop());
  const hub = createHub({ clock, random, log, registry, presence });
  teardown.push(() => hub.stop());
  const probes = await openProbes(deps);
  teardown.push(() => probes.close());
  probes.security.gatekeeper.onChange((agentId, enrolled) => hub.applyEnrolment(agentId, enrolled));
  const jobInputs = openJobInputs(replica);
  teardown.push(() => jobInputs.close());
  const { inputs } = jobInputs;
  const openedChecks = openChecks({ ...deps, hub, inputs }, optOut);
  teardown.push(() => openedChecks.close());
  const { checks } = openedChecks;
  const openLimits = openAnonymousLimits(replica);
  teardown.push(() => openLimits.close());
  const answers = createAnswers(replica);
  teardown.push(() => answers.close());
  const background = await openTogether(log, (own) => openBackground(deps, checks, own));
  teardown.push(() => background.stop(0));
  const listing = createProbeListing({ ...replica, roster: hub.roster, replicaId: hub.replicaId });
  const { deliveries, mail } = background;
  const isMailConfigured = mail.sender !== null;
  const backups = openSchedule({
    ...deps,
    backups: replica.config.backups,
    runBackup: options.runBackup ?? NO_BACKUPS,
  });
  teardown.push(() => backups.stop());
  const { baseUrl, trustedProxies } = replica.config;
  const warnings = openWarnings({ ...deps, probes: listing, deliveries, isMailConfigured, version, baseUrl, backups });
  teardown.push(() => warnings.stop());
  const { mailer, recipients } = mail;
  const users = createUsers({ ...replica, mailer, recipients, baseUrl, trustedProxies });
  teardown.push(() => users.close());
  const fileModules = operatorModules === null ? new Map<never, never>() : createFileModules(operatorModules);
  return { presence, hub, probes, checks, openLimits, answers, background, listing, warnings, users, fileModules };
}

/** Opens the queues and what they work for, and adds it to the accounts' data export. */
async function openBackground(deps: PartDeps, checks: CheckContext, teardown: Teardown) {
  const { config, sql, notifications, accounts, clock, registry } = deps;
  const jobs = createJobs({ ...deps, databaseUrl: config.databaseUrl });
  let graceMs = 0;
  let stopping: Promise<void> | null = null;
  const stopJobs = () => (stopping ??= jobs.stop(graceMs));
  const watch = createWatch(sql, notifications);
  teardown.push(() => watch.close());
  teardown.push(stopJobs);
  await jobs.start();
  registerQueueMetrics(registry, { count: () => jobs.count(), now: () => clock.now() });
  const contracts = new Map(CONTRACTS.map((contract) => [contract.name, contract]));
  const batches = createBatches({ ...deps, jobs, checks, contracts });
  teardown.push(() => batches.close());
  // Batches close after their last job has stopped.
  teardown.push(stopJobs);
  accounts.addExporter("batches", (tx, accountId) => batches.export(tx, accountId));
  const metrics = createMeasurementMetrics(registry, { unfinished: () => countUnfinished(sql) });
  const retentionMs = config.retention.measurements;
  const measurements = createMeasurements({ ...deps, jobs, checks, contracts, watch, metrics, retentionMs });
  teardown.push(() => measurements.close());
  accounts.addExporter("measurements", (tx, accountId) => measurements.export(tx, accountId));
  const notices = openNotices(deps, () => graceMs, teardown);
  const monitoring = await openMonitoring({ ...deps, ...notices, checks }, () => graceMs, teardown);
  return {
    ...notices,
    monitoring,
    jobs,
    measurements,
    batches,
    /** Lets running jobs finish for this time, then puts them back for other replicas. A second call does nothing. */
    stop(jobsGraceMs: number): Promise<void> {
      graceMs = jobsGraceMs;
      return teardown.run();
    },
  };
}

/** Opens events, mail and the queue of deliveries. */
function openNotices(deps: PartDeps, graceMs: () => number, teardown: Teardown) {
  const { config, accounts, random } = deps;
  const mail = openMail({
    ...deps,
    config: config.mail,
    baseUrl: config.baseUrl,
    accountEmails: (on, accountIds) => accounts.emails(on, accountIds),
    evidenceLines: readMailLines,
    heartbeatFacts: readHeartbeatMailDetails,
    pageLink: createPageLink(deps.encryption, config.baseUrl),
    readPicture,
  });
  teardown.push(() => mail.close());
  const subscribers = createSubscribers({ ...deps, baseUrl: config.baseUrl, mailer: mail.mailer });
  teardown.push(() => subscribers.close());
  const egress = createEgress(config.allow);
  const failing = createFailingReceivers("webhook");
  const webhooks = createWebhooks({
    ...deps,
    egress,
    failing,
    ensureOwnAddress: (tx, accountId) => mail.recipients.ensureRecipients(tx, accountId, null),
  });
  const events = createEvents({
    random,
    sources: [mail.source, subscribers.source, createWebhookSource(readTags)],
  });
  const deactivation = startDeactivation({ ...deps, events, failing, autoOff: config.webhooks.autoOff });
  teardown.push(() => deactivation.close());
  const webhookSender = createWebhookSender({
    ...deps,
    egress,
    markGone: (attempted) => deactivation.markGone(attempted),
    settings: { ...config.webhooks, dnsServers: config.dnsServers, userAgent: deps.userAgent, baseUrl: config.baseUrl },
  });
  teardown.push(() => webhookSender.close());
  const senders = [mail.sender, subscribers.sender, webhookSender].filter((sender) => sender !== null);
  const deliveries = openDeliveries({ ...deps, senders, noteMailed, retentionMs: config.retention.deliveries });
  teardown.push(() => deliveries.stop(graceMs()));
  accounts.addExporter("mail_recipients", (tx, accountId) => mail.recipients.export(tx, accountId));
  accounts.addExporter("webhooks", (tx, accountId) => webhooks.export(tx, accountId));
  accounts.onChange((tx, accountId) => webhooks.accountChanged(tx, accountId));
  accounts.addExporter("events", (tx, accountId) => events.export(tx, accountId));
  accounts.addExporter("deliveries", (tx, accountId) => deliveries.export(tx, accountId));
  accounts.onErase((tx, accountId) => deliveries.accountErased(tx, accountId));
  accounts.addExporter("status_page_subscribers", (tx, accountId) => subscribers.export(tx, accountId));
  return { mail, subscribers, webhooks, events, deliveries };
}

/**
 * Opens monitors, their maintenance and history, and starts to watch them. `graceMs` is that of the shutdown. The rooms
 * join the export and the erasure of accounts in this order.
 */
async function openMonitoring(
  { config, ...rest }: PartDeps & { readonly checks: CheckContext; readonly events: Events; readonly mail: Mail },
  graceMs: () => number,
  teardown: Teardown,
) {
  const { baseUrl, databaseUrl } = config;
  const deps = { ...rest, baseUrl, databaseUrl, retentionMs: config.retention.checks, graceMs };
  const history = await openHistory({ ...deps, maintenanceBetween: coveredBetween }, teardown);
  const monitors = createMonitors({ ...deps, history, heartbeats: createHeartbeats(deps) });
  const trials = createTrials({ ...deps, run: (request) => runCheck(deps.checks, request) });
  const pictures = openPictures(deps, teardown);
  const baselines = openEvidence(deps, teardown);
  const watched = { monitorsOf: readOwned, checkDown: requestChecksAfter };
  const maintenance = openMaintenance({ ...deps, ...watched }, teardown);
  const canSubscribe = deps.mail.mailer !== null;
  const statusPages = await openStatusPages({ ...deps, history, canSubscribe }, teardown);
  const expiry = openExpiry(deps, teardown);
  const recording = { events: deps.events, requestEvidence };
  const watch = openChecking({ ...deps, recording, baselines, expiry, pictures }, teardown);
  const pings = openPings({ ...deps, changes: recording }, teardown);
  return { monitors, trials, pictures, maintenance, history, watch, pings, statusPages };
}
