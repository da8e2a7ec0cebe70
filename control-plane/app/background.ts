import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Contract } from "#shared/tools/define.ts";
import type { Clock, Random } from "#shared/time/clock.ts";
import { createEgress } from "#shared/internet/egress.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import { createBatches, type Batches } from "#control-plane/checks/batches/batches.ts";
import type { Config } from "#control-plane/core/config.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { readMailLines } from "#control-plane/watching/evidence/requests.ts";
import { readHeartbeatMailFacts } from "#control-plane/watching/heartbeats/mail-facts.ts";
import { createPageLink } from "#control-plane/public/incident-pages/link.ts";
import type { Notifications } from "#control-plane/core/database/notifications.ts";
import type { Turns } from "#control-plane/core/database/turns.ts";
import { createFailingReceivers } from "#control-plane/notify/deliveries/failing/failing.ts";
import { openDeliveries, type Deliveries } from "#control-plane/notify/deliveries/deliveries.ts";
import { createEvents, type Events } from "#control-plane/notify/events/events.ts";
import { noteMailed } from "#control-plane/outages/incidents/mailed.ts";
import { createJobs, type Jobs } from "#control-plane/checks/jobs.ts";
import { registerQueueMetrics } from "#control-plane/checks/jobs/metrics.ts";
import { openMail, type Mail } from "#control-plane/notify/mail/mail.ts";
import { createMeasurementMetrics } from "#control-plane/checks/measurements/metrics.ts";
import { createMeasurements, type Measurements } from "#control-plane/checks/measurements/measurements.ts";
import { countUnfinished } from "#control-plane/checks/measurements/upkeep/store.ts";
import { createWatch } from "#control-plane/checks/measurements/watch.ts";
import { openMonitoring, type Monitoring } from "#control-plane/app/monitoring.ts";
import { readTags } from "#control-plane/monitors/store.ts";
import { readPicture } from "#control-plane/watching/pictures/store.ts";
import { createSubscribers, type Subscribers } from "#control-plane/public/status-pages/subscribers/subscribers.ts";
import type { Plans } from "#control-plane/core/plans/plans.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";
import { openTogether, type Teardown } from "#control-plane/core/teardown.ts";
import { startDeactivation } from "#control-plane/notify/webhooks/deactivate/deactivate.ts";
import { createWebhookSender } from "#control-plane/notify/webhooks/send/sender.ts";
import { createWebhookSource } from "#control-plane/notify/webhooks/source.ts";
import { createWebhooks, type Webhooks } from "#control-plane/notify/webhooks/webhooks.ts";

/** Background work of one replica. */
interface Background {
  readonly jobs: Jobs;
  readonly measurements: Measurements;
  readonly batches: Batches;
  readonly monitoring: Monitoring;
  readonly mail: Mail;
  readonly subscribers: Subscribers;
  readonly webhooks: Webhooks;
  readonly events: Events;
  readonly deliveries: Deliveries;
  /** Lets running jobs finish for `graceMs`, then puts them back for other replicas. A second call does nothing. */
  stop(graceMs: number): Promise<void>;
}

/** Dependencies of the background work. */
interface BackgroundDeps {
  readonly config: Pick<Config, "databaseUrl" | "retention" | "mail" | "baseUrl" | "webhooks" | "dnsServers" | "allow">;
  readonly sql: Sql;
  readonly turns: Turns;
  readonly notifications: Notifications;
  readonly accounts: Accounts;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
  readonly registry: Registry;
  readonly encryption: Encryption;
  readonly installation: string;
  readonly plans: Plans;
  /** User-Agent of the requests that this process sends. */
  readonly userAgent: string;
}

/** Opens the queues and what they work for, and adds it to the accounts' data export. */
export function openBackground(
  deps: BackgroundDeps,
  checks: CheckContext,
  contracts: readonly Contract[],
): Promise<Background> {
  return openTogether(deps.log, (teardown) => openQueues(deps, checks, contracts, teardown));
}

async function openQueues(
  deps: BackgroundDeps,
  checks: CheckContext,
  contracts: readonly Contract[],
  teardown: Teardown,
): Promise<Background> {
  const { config, sql, notifications, accounts, log, clock, random, registry } = deps;
  const jobs = createJobs({ databaseUrl: config.databaseUrl, sql, notifications, log });
  let graceMs = 0;
  let stopping: Promise<void> | null = null;
  const stopJobs = () => (stopping ??= jobs.stop(graceMs));
  const watch = createWatch(sql, notifications);
  teardown.push(() => watch.close());
  teardown.push(stopJobs);
  await jobs.start();
  registerQueueMetrics(registry, { count: () => jobs.count(), now: () => clock.now() });
  const byName = new Map(contracts.map((contract) => [contract.name, contract]));
  const batches = createBatches({ sql, jobs, checks, contracts: byName, notifications, random, log });
  teardown.push(() => batches.close());
  // Batches close after their last job has stopped.
  teardown.push(stopJobs);
  accounts.addExporter("batches", (tx, accountId) => batches.export(tx, accountId));
  const measurements = createMeasurements({
    sql,
    jobs,
    checks,
    contracts: byName,
    random,
    log,
    watch,
    metrics: createMeasurementMetrics(registry, { unfinished: () => countUnfinished(sql) }),
    retentionMs: config.retention.measurements,
  });
  teardown.push(() => measurements.close());
  accounts.addExporter("measurements", (tx, accountId) => measurements.export(tx, accountId));
  const { mail, subscribers, webhooks, events, deliveries } = openNotices(deps, () => graceMs, teardown);
  const monitoring = await openMonitoring({ ...deps, checks, events, mail }, () => graceMs, teardown);
  return {
    monitoring,
    jobs,
    measurements,
    batches,
    mail,
    subscribers,
    webhooks,
    events,
    deliveries,
    stop(jobsGraceMs) {
      graceMs = jobsGraceMs;
      return teardown.run();
    },
  };
}

/** Opens events, mail and the queue of deliveries. */
function openNotices(deps: BackgroundDeps, graceMs: () => number, teardown: Teardown) {
  const { config, accounts, random } = deps;
  const mail = openMail({
    ...deps,
    config: config.mail,
    baseUrl: config.baseUrl,
    accountEmails: (on, accountIds) => accounts.emails(on, accountIds),
    evidenceLines: readMailLines,
    heartbeatFacts: readHeartbeatMailFacts,
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
