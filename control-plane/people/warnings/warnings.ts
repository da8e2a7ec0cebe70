import type { Logger } from "pino";
import { type Registry, Gauge } from "prom-client";
import type { BackupSchedule } from "#control-plane/backups/schedule/schedule.ts";
import type { App } from "#control-plane/core/app.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { startUpkeep } from "#control-plane/core/database/upkeep.ts";
import type { Deliveries } from "#control-plane/notify/deliveries/deliveries.ts";
import { SERVER_FAULTS } from "#control-plane/notify/mail/outcome.ts";
import { surveyMonitors } from "#control-plane/watching/checking/survey.ts";
import type { ProbeListing, ProbeRow } from "#control-plane/checks/probes/listing.ts";
import { findCauses, LATE_MS, MAIL_FAILING_MS, MOST_IDS } from "#control-plane/people/warnings/causes.ts";
import { compareCauses, type Changes, type KnownCause } from "#control-plane/people/warnings/compare.ts";
import {
  countWarnings,
  deleteCauses,
  lockWarnings,
  readCauses,
  writeCauses,
} from "#control-plane/people/warnings/store.ts";
import { WARNING_CODES, type WarningCode } from "#control-plane/people/warnings/codes.ts";

/** Warnings about the service itself, for its operator. Every replica shows the same. */
export interface Warnings {
  /** Lists the present warnings, the oldest first. */
  list(): Promise<readonly KnownCause[]>;
  /** Looks for causes now, unless another replica does. */
  refresh(): Promise<void>;
  /** Looks for no more causes, and waits for a round that is running. */
  stop(): Promise<void>;
}

/** Dependencies of warnings. */
interface WarningsDeps extends Pick<App, "sql" | "clock" | "timers"> {
  readonly log: Pick<Logger, "error" | "warn" | "info" | "debug">;
  readonly registry: Registry;
  readonly probes: ProbeListing;
  readonly deliveries: Pick<Deliveries, "countFailing">;
  readonly isMailConfigured: boolean;
  /** Of this control plane. */
  readonly version: string;
  readonly baseUrl: string;
  readonly backups: Pick<BackupSchedule, "findTrouble">;
}

const EVERY_MS = 10_000;
/** A mail that ended without success counts as failing for this long, in milliseconds. */
const DEAD_MAIL_MS = 48 * 3_600_000;

/**
 * Looks for causes every 10 s, in one replica at a time. The known causes are rows of the database, and each change of
 * them is logged by the replica that commits it. So a warning is logged once when it begins and once when it ends; only
 * a process that is killed between commit and log loses a line.
 */
export function openWarnings(deps: WarningsDeps): Warnings {
  const { sql, clock, log, timers, probes } = deps;
  let running: Promise<void> = Promise.resolve();

  async function refresh(): Promise<void> {
    const agents = (await probes.read()).filter(({ status }) => status !== "revoked");
    const changes = await transact(sql, (tx) => update(tx, deps, agents, clock.now()));
    for (const cause of changes?.begun ?? []) log.warn(fieldsOf(cause), `warning: ${cause.message}`);
    for (const cause of changes?.ended ?? []) log.info(fieldsOf(cause), `warning ended: ${cause.message}`);
  }

  const upkeep = startUpkeep({
    everyMs: EVERY_MS,
    round: () => (running = refresh()),
    name: "warnings: the update",
    log,
    timers,
  });
  registerWarningMetrics(deps.registry, () => countWarnings(sql));
  return {
    list: async () => (await readCauses(sql)).filter(({ raisedAt }) => raisedAt !== null),
    refresh,
    async stop() {
      upkeep.stop();
      await running.catch(() => {});
    },
  };
}

/** Updates the known causes; null if another replica does. */
async function update(
  tx: Transaction,
  { deliveries, isMailConfigured, version, baseUrl, backups }: WarningsDeps,
  rows: readonly ProbeRow[],
  now: Date,
): Promise<Changes | null> {
  if (!(await lockWarnings(tx))) return null;
  const agents = rows.map(({ agent, accountId, status }) => {
    return { place: agent.place, accountId, isOnline: status === "online" };
  });
  const attached = rows
    .filter(({ replicas }) => replicas.length > 0)
    .map(({ agent }) => ({ id: agent.id, region: agent.place.region, version: agent.version }));
  const survey = await surveyMonitors(tx, { agents, now, isMailConfigured, mostIds: MOST_IDS, overdueMs: LATE_MS });
  const failingMails = await deliveries.countFailing(tx, {
    failingBefore: new Date(now.getTime() - MAIL_FAILING_MS),
    serverFaults: SERVER_FAULTS,
    since: new Date(now.getTime() - DEAD_MAIL_MS),
    mostIds: MOST_IDS,
  });
  const backupTrouble = await backups.findTrouble(tx, now);
  const causes = findCauses({ now, survey, attached, version, baseUrl, isMailConfigured, failingMails, backupTrouble });
  const changes = compareCauses(await readCauses(tx), causes, now);
  await writeCauses(tx, changes.present);
  await deleteCauses(tx, changes.gone);
  return changes;
}

function fieldsOf({ code, subject, since, monitorCount, monitorIds }: KnownCause) {
  return {
    code,
    ...(subject === "" ? {} : { subject }),
    since: since.toISOString(),
    monitors: monitorCount,
    monitor_ids: monitorIds,
  };
}

/** Counts the warnings of each code that has any. If it rejects, the gauge is left out of the scrape. */
type CountWarnings = () => Promise<readonly { readonly code: WarningCode; readonly count: number }[]>;

/** Registers the gauge of warnings. It is read from the database and is the same on every replica. */
function registerWarningMetrics(registry: Registry, count: CountWarnings): void {
  registry.registerMetric(
    new Gauge({
      name: "vantage_warning",
      help: "Operator warnings by code (GET /api/admin/warnings); 0: there is none",
      labelNames: ["code"],
      registers: [],
      async collect() {
        const counts = await count().catch(() => null);
        this.reset();
        if (counts === null) return;
        for (const code of WARNING_CODES) this.set({ code }, 0);
        for (const { code, count: warnings } of counts) this.set({ code }, warnings);
      },
    }),
  );
}
