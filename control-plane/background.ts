import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Contract } from "#shared/tools/define.ts";
import type { Clock, Random } from "#shared/clock.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import { createBatches, type Batches } from "#control-plane/batches/batches.ts";
import type { Config } from "#control-plane/config.ts";
import type { Sql } from "#control-plane/database/connect.ts";
import type { Notifications } from "#control-plane/database/notifications.ts";
import { createJobs, type Jobs } from "#control-plane/jobs.ts";
import { registerQueueMetrics } from "#control-plane/jobs/metrics.ts";
import { createMeasurementMetrics } from "#control-plane/measurements/metrics.ts";
import { createMeasurements, type Measurements } from "#control-plane/measurements/measurements.ts";
import { countUnfinished } from "#control-plane/measurements/upkeep/store.ts";
import { createWatch } from "#control-plane/measurements/watch.ts";
import { openTogether, type Teardown } from "#control-plane/teardown.ts";

/** Background work of one replica. */
interface Background {
  readonly jobs: Jobs;
  readonly measurements: Measurements;
  readonly batches: Batches;
  /** Lets running jobs finish for `graceMs`, then puts them back for other replicas. A second call does nothing. */
  stop(graceMs: number): Promise<void>;
}

/** Dependencies of the background work. */
interface BackgroundDeps {
  readonly config: Pick<Config, "databaseUrl" | "retention">;
  readonly sql: Sql;
  readonly notifications: Notifications;
  readonly accounts: Accounts;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
  readonly registry: Registry;
}

/** Opens the queues, the batches and the measurements. Adds batches and measurements to the accounts' data export. */
export function openBackground(
  deps: BackgroundDeps,
  checks: CheckContext,
  contracts: readonly Contract[],
): Promise<Background> {
  return openTogether(deps.log, (teardown) => openQueues(deps, checks, contracts, teardown));
}

async function openQueues(
  { config, sql, notifications, accounts, log, clock, random, registry }: BackgroundDeps,
  checks: CheckContext,
  contracts: readonly Contract[],
  teardown: Teardown,
): Promise<Background> {
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
  return {
    jobs,
    measurements,
    batches,
    stop(jobsGraceMs) {
      graceMs = jobsGraceMs;
      return teardown.run();
    },
  };
}
