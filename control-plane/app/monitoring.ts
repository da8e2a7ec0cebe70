import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Clock, Random } from "#shared/time/clock.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import { openChecking } from "#control-plane/watching/checking/open.ts";
import { requestChecksAfter } from "#control-plane/watching/checking/schedule/schedule.ts";
import type { Watch } from "#control-plane/watching/checking/watch/watch.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import { runCheck } from "#control-plane/checks/run-check.ts";
import type { Config } from "#control-plane/core/config.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import type { Notifications } from "#control-plane/core/database/notifications.ts";
import type { Turns } from "#control-plane/core/database/turns.ts";
import type { Events } from "#control-plane/notify/events/events.ts";
import { openEvidence } from "#control-plane/watching/evidence/open.ts";
import { requestEvidence } from "#control-plane/watching/evidence/requests.ts";
import { openExpiry } from "#control-plane/watching/expiry/expiry.ts";
import { createHeartbeats } from "#control-plane/watching/heartbeats/heartbeats.ts";
import { openPings } from "#control-plane/watching/heartbeats/open.ts";
import type { PingRecorder } from "#control-plane/watching/heartbeats/pings/recorder.ts";
import { openHistory, type History } from "#control-plane/outages/history/history.ts";
import type { Mail } from "#control-plane/notify/mail/mail.ts";
import { coveredBetween } from "#control-plane/outages/maintenance/coverage/coverage.ts";
import { openMaintenance, type Maintenance } from "#control-plane/outages/maintenance/maintenance.ts";
import { createMonitors, type Monitors } from "#control-plane/monitors/monitors.ts";
import { readOwned } from "#control-plane/monitors/store.ts";
import { createTrials, type Trials } from "#control-plane/monitors/try/try.ts";
import { openPictures, type Pictures } from "#control-plane/watching/pictures/pictures.ts";
import type { Plans } from "#control-plane/core/plans/plans.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";
import { openStatusPages, type StatusPages } from "#control-plane/public/status-pages/status-pages.ts";
import type { Teardown } from "#control-plane/core/teardown.ts";

/** Monitors and everything that watches them. */
export interface Monitoring {
  readonly monitors: Monitors;
  readonly trials: Trials;
  readonly pictures: Pictures;
  readonly maintenance: Maintenance;
  readonly history: History;
  readonly watch: Watch;
  readonly pings: PingRecorder;
  readonly statusPages: StatusPages;
}

/** Dependencies of monitoring. */
interface MonitoringDeps {
  readonly config: Pick<Config, "retention" | "databaseUrl" | "baseUrl">;
  readonly sql: Sql;
  readonly turns: Turns;
  readonly notifications: Notifications;
  readonly accounts: Accounts;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
  readonly registry: Registry;
  readonly encryption: Encryption;
  readonly plans: Plans;
  readonly checks: CheckContext;
  readonly events: Events;
  readonly mail: Mail;
}

/**
 * Opens monitors, their maintenance and history, and starts to watch them. `graceMs` is that of the shutdown. The rooms
 * join the export and the erasure of accounts in this order.
 */
export async function openMonitoring(
  { config, ...rest }: MonitoringDeps,
  graceMs: () => number,
  teardown: Teardown,
): Promise<Monitoring> {
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
