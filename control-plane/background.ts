import type { Contract } from "#shared/tools/define.ts";
import type { App } from "#control-plane/app.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import { createBatches, type Batches } from "#control-plane/batches/batches.ts";
import { createJobs, type Jobs } from "#control-plane/jobs.ts";
import { registerQueueMetrics } from "#control-plane/jobs/metrics.ts";
import { createMeasurementMetrics } from "#control-plane/measurements/metrics.ts";
import { createMeasurements, type Measurements } from "#control-plane/measurements/measurements.ts";
import { countUnfinished } from "#control-plane/measurements/upkeep/store.ts";
import { createWatch } from "#control-plane/measurements/watch.ts";

/** What runs in the background of one replica. */
export interface Background {
  readonly jobs: Jobs;
  readonly measurements: Measurements;
  readonly batches: Batches;
  /** Lets what runs finish for so long, then puts it back for the other replicas. */
  stop(graceMs: number): Promise<void>;
}

/** Opens the queues and the measurements, whose export and figures they join to the app's. */
export async function openBackground(
  app: App,
  checks: CheckContext,
  contracts: readonly Contract[],
): Promise<Background> {
  const { config, sql, notifications, log, clock, random, metrics, accounts } = app;
  const jobs = createJobs({ databaseUrl: config.databaseUrl, sql, notifications, log });
  await jobs.start();
  registerQueueMetrics(metrics.registry, { count: () => jobs.count(), now: () => clock.now() });
  const watch = createWatch(sql, notifications);
  const byName = new Map(contracts.map((contract) => [contract.name, contract]));
  const batches = createBatches({ sql, jobs, checks, contracts: byName, notifications, random });
  accounts.addExporter("batches", (tx, accountId) => batches.export(tx, accountId));
  const measurements = createMeasurements({
    sql,
    jobs,
    checks,
    contracts: byName,
    notifications,
    random,
    log,
    watch,
    metrics: createMeasurementMetrics(metrics.registry, { unfinished: () => countUnfinished(sql) }),
    retentionMs: config.retention.measurements,
  });
  accounts.addExporter("measurements", (tx, accountId) => measurements.export(tx, accountId));
  return {
    jobs,
    measurements,
    batches,
    async stop(graceMs) {
      measurements.close();
      batches.close();
      await jobs.stop(graceMs);
      watch.close();
    },
  };
}
