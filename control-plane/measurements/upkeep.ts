import type { Logger } from "pino";
import type { Clock } from "#shared/clock.ts";
import type { Contract } from "#shared/tools/define.ts";
import type { Queryable, Sql } from "#control-plane/database/connect.ts";
import { listMeasurements, readLocations } from "#control-plane/measurements/store.ts";
import { deleteExpired, failForgotten } from "#control-plane/measurements/upkeep/store.ts";
import { showMeasurement } from "#control-plane/measurements/view.ts";

/** What housekeeping stands on. */
export interface UpkeepDeps {
  readonly sql: Sql;
  readonly checks: { readonly clock: Clock };
  readonly log: Logger;
}

const EVERY_MS = 600_000;
/** Rows deleted by one statement: each takes its locations and events along. */
const BATCH = 500;
/** A measurement that has not ended after so long has lost its job; its own deadlines are far below. */
const FORGOTTEN_MS = 3_600_000;
/** Most measurements of one export; an account that keeps more gets the newest. */
const MOST_EXPORTED = 10_000;

/**
 * Deletes what is past its time, every ten minutes, on every replica: rows another replica is at are skipped, and what
 * is expired is not shown in the meantime, so nothing depends on who does it or when.
 */
export function startUpkeep(deps: UpkeepDeps): { stop(): void } {
  const timer = setInterval(() => void sweepMeasurements(deps), EVERY_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

/** One round of housekeeping; what fails now is done in the next. */
export async function sweepMeasurements({ sql, checks, log }: UpkeepDeps): Promise<void> {
  try {
    const now = checks.clock.now();
    await failForgotten(sql, new Date(now.getTime() - FORGOTTEN_MS), now);
    while ((await deleteExpired(sql, now, BATCH)) === BATCH);
  } catch (error) {
    log.debug({ err: error }, "measurements: housekeeping is put off");
  }
}

/** An account's measurements with their answers, newest first. */
export async function exportMeasurements(
  sql: Queryable,
  accountId: number,
  contracts: ReadonlyMap<string, Contract>,
  now: Date,
): Promise<readonly unknown[]> {
  const listed = await listMeasurements(sql, accountId, now, { limit: MOST_EXPORTED, offset: 0 });
  const exported: unknown[] = [];
  for (const measurement of listed) {
    const locations = await readLocations(sql, measurement.id);
    exported.push(showMeasurement(measurement, locations, contracts.get(measurement.tool)));
  }
  return exported;
}
