import type { Clock } from "#shared/clock.ts";
import type { Contract } from "#shared/tools/define.ts";
import type { Queryable, Sql } from "#control-plane/database/connect.ts";
import { sweepRuns, type RunAges } from "#control-plane/jobs/durable-run/upkeep.ts";
import { listMeasurements, MEASUREMENT_RUNS, readLocations } from "#control-plane/measurements/store.ts";
import { showMeasurement } from "#control-plane/measurements/view.ts";

/** Dependencies of the housekeeping. */
interface UpkeepDeps {
  readonly sql: Sql;
  readonly checks: { readonly clock: Clock };
}

const AGES: RunAges = { forgottenMs: 3_600_000, deletedAtOnce: 500 };
/** Maximum number of measurements in one export: the newest. */
const MOST_EXPORTED = 10_000;

/** Runs one round of housekeeping. Rejects while the database is away. */
export async function sweepMeasurements({ sql, checks }: UpkeepDeps): Promise<void> {
  await sweepRuns(sql, MEASUREMENT_RUNS, AGES, checks.clock.now());
}

/** Returns the measurements of an account with their results, newest first. */
export async function exportMeasurements(
  sql: Queryable,
  accountId: number,
  contracts: ReadonlyMap<string, Contract>,
  now: Date,
): Promise<readonly unknown[]> {
  const listed = await listMeasurements(sql, accountId, [], now, { limit: MOST_EXPORTED, offset: 0 });
  const exported: unknown[] = [];
  for (const measurement of listed) {
    const locations = await readLocations(sql, measurement.id);
    exported.push(showMeasurement(measurement, locations, contracts.get(measurement.tool)));
  }
  return exported;
}
