import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Clock, Random } from "#shared/clock.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import type { Config } from "#control-plane/config.ts";
import type { Sql } from "#control-plane/database/connect.ts";
import type { Notifications } from "#control-plane/database/notifications.ts";
import type { Events } from "#control-plane/events/events.ts";
import { openBaselines } from "#control-plane/evidence/baselines/baselines.ts";
import { readIncidentEvidence, requestEvidence } from "#control-plane/evidence/requests.ts";
import { startEvidenceWorker } from "#control-plane/evidence/worker.ts";
import { openExpiry } from "#control-plane/expiry/expiry.ts";
import { eraseTargets } from "#control-plane/expiry/links/links.ts";
import { judgeDomain } from "#control-plane/expiry/shown/domain-check.ts";
import { exportIncidents } from "#control-plane/incidents/incidents.ts";
import type { Mail } from "#control-plane/mail/mail.ts";
import { areCovered, coveredBetween } from "#control-plane/maintenance/coverage/coverage.ts";
import { createMaintenance, type Maintenance } from "#control-plane/maintenance/maintenance.ts";
import { startEndings } from "#control-plane/maintenance/occurrences/endings.ts";
import { createHistory, type History } from "#control-plane/history/history.ts";
import { createHeartbeats } from "#control-plane/heartbeats/heartbeats.ts";
import { openPings } from "#control-plane/heartbeats/open.ts";
import type { PingRecorder } from "#control-plane/heartbeats/pings/recorder.ts";
import { createMonitors, type Monitors } from "#control-plane/monitors/monitors.ts";
import { startOrphans } from "#control-plane/checking/schedule/orphans/orphans.ts";
import { requestChecksAfter } from "#control-plane/checking/schedule/schedule.ts";
import { openSecrets } from "#control-plane/kinds/secrets.ts";
import { readOwned } from "#control-plane/monitors/store.ts";
import { startVisits } from "#control-plane/checking/visits/visits.ts";
import { createPictureFinding } from "#control-plane/checking/watch/picture-finding.ts";
import { startWatch, type Watch } from "#control-plane/checking/watch/watch.ts";
import { createPictures, type Pictures } from "#control-plane/pictures/pictures.ts";
import type { Plans } from "#control-plane/plans/plans.ts";
import type { Encryption } from "#control-plane/secrets/encryption.ts";
import { startVerification } from "#control-plane/status-pages/domains/verification.ts";
import { createStatusPages, type StatusPages } from "#control-plane/status-pages/status-pages.ts";
import type { Teardown } from "#control-plane/teardown.ts";

/** Monitors and everything that watches them. */
export interface Monitoring {
  readonly monitors: Monitors;
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

/** Opens monitors, their maintenance and history, and starts to watch them. `graceMs` is that of the shutdown. */
export async function openMonitoring(
  deps: MonitoringDeps,
  graceMs: () => number,
  teardown: Teardown,
): Promise<Monitoring> {
  const { sql, accounts, clock, log, mail, events, checks, encryption } = deps;
  const maintenance = createMaintenance({ sql, clock, log, monitorsOf: readOwned });
  teardown.push(() => maintenance.close());
  const endings = startEndings({ sql, clock, log, checkDown: requestChecksAfter });
  teardown.push(() => endings.stop());
  const history = createHistory({
    sql,
    clock,
    log,
    retentionMs: deps.config.retention.checks,
    maintenanceBetween: coveredBetween,
  });
  teardown.push(() => history.stop());
  await history.start();
  const pictures = createPictures({
    sql,
    clock,
    log,
    events,
    areCovered,
    baseUrl: deps.config.baseUrl,
    retentionMs: deps.config.retention.checks,
  });
  teardown.push(() => pictures.close());
  const heartbeats = createHeartbeats({ ...deps, baseUrl: deps.config.baseUrl });
  const monitors = createMonitors({ ...deps, history, heartbeats });
  accounts.addExporter("pictures", (tx, accountId) => pictures.export(tx, accountId));
  accounts.addExporter("incidents", (tx, accountId) =>
    exportIncidents(tx, accountId, { now: clock.now(), evidenceOf: readIncidentEvidence }),
  );
  accounts.addExporter("maintenance", (tx, accountId) => maintenance.export(tx, accountId));
  const statusPages = createStatusPages({
    ...deps,
    history,
    baseUrl: deps.config.baseUrl,
    canSubscribe: mail.mailer !== null,
  });
  teardown.push(() => statusPages.close());
  await statusPages.start();
  const verification = startVerification(deps);
  teardown.push(() => verification.stop());
  accounts.addExporter("status_pages", (tx, accountId) => statusPages.export(tx, accountId));
  accounts.onErase((tx, accountId) => statusPages.accountErased(tx, accountId));
  const recording = { events, areCovered, requestEvidence };
  const evidence = startEvidenceWorker({
    ...deps,
    retentionMs: deps.config.retention.checks,
    openSecrets: (sealed) => openSecrets(encryption, sealed),
  });
  teardown.push(() => evidence.stop(graceMs()));
  const baselines = openBaselines({ sql, log, clock, checks });
  teardown.push(() => baselines.stop());
  const expiry = openExpiry({ ...deps, areCovered });
  teardown.push(() => expiry.stop());
  accounts.onErase((tx, accountId) => eraseTargets(tx, accountId));
  const watch = startWatch({
    ...deps,
    recording,
    baselines,
    expiry: {
      note: (monitorId, fingerprint) => expiry.note(monitorId, fingerprint),
      judgeDomain: (monitorId) => judgeDomain(sql, monitorId, clock.now()),
    },
    pictureFinding: createPictureFinding(pictures, log),
    openSecrets: (sealed) => openSecrets(encryption, sealed),
  });
  teardown.push(() => watch.stop(graceMs()));
  const orphans = startOrphans({ sql, clock, log, replicaId: checks.hub.replicaId });
  teardown.push(() => orphans.stop());
  const unserved: Watch["unserved"] = (accountId, locations) => watch.unserved(accountId, locations);
  const visits = startVisits({ sql, clock, log, unserved, recording });
  teardown.push(() => visits.stop());
  const pings = openPings({ ...deps, databaseUrl: deps.config.databaseUrl, changes: recording }, teardown);
  return { monitors, pictures, maintenance, history, watch, pings, statusPages };
}
