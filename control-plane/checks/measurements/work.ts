import { parseLocations } from "#shared/internet/locations.ts";
import type { Contract } from "#shared/tools/define.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import type { App } from "#control-plane/core/app.ts";
import { askProbes, type UnitCall } from "#control-plane/checks/jobs/durable-run/ask-probes.ts";
import type { DurableWork, Unanswered } from "#control-plane/checks/jobs/durable-run/work.ts";
import { createJournal, type Journal } from "#control-plane/checks/measurements/journal.ts";
import { recordEvents } from "#control-plane/checks/measurements/journal-store.ts";
import type { MeasurementMetrics } from "#control-plane/checks/measurements/metrics.ts";
import {
  claimMeasurement,
  finishMeasurement,
  MEASUREMENT_RUNS,
  readAttempts,
  readLocations,
  type StoredMeasurement,
} from "#control-plane/checks/measurements/store.ts";
import { parseStoredLocation, toStoredRow } from "#control-plane/checks/measurements/serialize.ts";
import type { CheckError, CheckEvent, Location, LocationRow } from "#control-plane/checks/answer.ts";

/** Measurements as durable work. A unit is a location; one call checks all; results are events in the journal. */
export function createMeasurementWork(
  deps: Pick<App, "sql"> & {
    readonly checks: CheckContext;
    readonly contracts: ReadonlyMap<string, Contract>;
    readonly metrics: MeasurementMetrics;
  },
): DurableWork<StoredMeasurement, PlacedLocation> {
  const { sql, metrics } = deps;
  return {
    async claim(id, now) {
      const measurement = await claimMeasurement(sql, id, now);
      if (measurement?.run === 1) {
        metrics.lag.observe(Math.max(0, now.getTime() - measurement.createdAt.getTime()) / 1_000);
      }
      return measurement;
    },
    async begin(measurement, writing) {
      const open = (await readLocations(sql, measurement.id)).filter(({ status }) => status === null);
      const journal = createJournal({
        ...writing,
        write: (events, after, dropped) => recordEvents(sql, measurement, events, after, dropped),
        after: measurement.events,
      });
      const locations = open.map(({ ordinal, location }) => ({ ordinal, place: parseStoredLocation(location) }));
      const earlier = measurement.run === 1 ? new Map<number, number>() : await readAttempts(sql, measurement.id);
      const log = createEventLog(journal, locations, earlier);
      return {
        groups: locations.length === 0 ? [] : [locations],
        perform: (group, signal) =>
          checkLocations(deps, { measurement, log, onProgressDropped: () => journal.drop() }, group, signal),
        giveUp: ({ unit, error }) => log.addFailure(unit, error),
        settle: () => journal.settle(),
      };
    },
    postpone: (lease, now) => MEASUREMENT_RUNS.postpone(sql, lease, now),
    async finish(lease, now) {
      const status = await finishMeasurement(sql, lease, now);
      if (status !== null) metrics.ended.inc({ status });
    },
  };
}

interface OpenMeasurement {
  readonly measurement: StoredMeasurement;
  readonly log: EventLog;
  readonly onProgressDropped: () => void;
}

/** Checks locations with one call. Their results reach the log as events during the call. */
async function checkLocations(
  { checks, contracts }: { readonly checks: CheckContext; readonly contracts: ReadonlyMap<string, Contract> },
  { measurement, log, onProgressDropped }: OpenMeasurement,
  locations: readonly PlacedLocation[],
  signal: AbortSignal,
): Promise<readonly Unanswered<PlacedLocation>[]> {
  const contract = contracts.get(measurement.tool);
  // If another release added the tool, a replica that has it makes the call.
  const call: UnitCall =
    contract === undefined
      ? null
      : {
          contract,
          params: JSON.parse(measurement.params) as Record<string, unknown>,
          accountId: measurement.accountId,
          locations: parseExpression(measurement.expression),
          places: locations.map(({ place }) => place),
          maxLocations: locations.length,
          signal,
          onEvent: (event, planned) => log.addEvent(event, planned),
          onProgressDropped,
        };
  const answers = await askProbes(checks, call, locations.length);
  return locations.flatMap((unit, index) => {
    const answer = answers[index];
    return answer?.isAnswered === false ? [{ unit, error: answer.error }] : [];
  });
}

function parseExpression(expression: string | null) {
  const parsed = expression === null ? null : parseLocations(JSON.parse(expression) as string[]);
  return parsed?.ok === true ? parsed.items : [];
}

/** A location without a result, with the probe that was chosen for it. */
interface PlacedLocation {
  readonly ordinal: number;
  readonly place: Location;
}

/**
 * Adds the events of an attempt to the journal. Attempt numbers of a location continue from those of earlier attempts.
 */
interface EventLog {
  /** Adds an event of a check. `planned` is the id of the probe that was chosen for its location. */
  addEvent(event: CheckEvent, planned: string): void;
  /** Adds a failed result for a location that no check reached. */
  addFailure(location: PlacedLocation, error: CheckError): void;
}

/**
 * Creates the log of one attempt. `earlier` holds how many probes began in earlier attempts, by ordinal of location.
 */
function createEventLog(
  journal: Pick<Journal, "add">,
  locations: readonly PlacedLocation[],
  earlier: ReadonlyMap<number, number>,
): EventLog {
  const ordinals = new Map(locations.map(({ ordinal, place }) => [place.probe_id, ordinal]));
  const resumed = new Set<number>();

  function addEventWithoutResult(event: string, ordinal: number, attempt: number, data: object): void {
    journal.add({ event, ordinal, attempt, data: JSON.stringify({ ...data, attempt }), result: null });
  }

  function addResult(ordinal: number, row: LocationRow, attempt: number): void {
    journal.add({ event: "result", ordinal, attempt, data: JSON.stringify({ attempt }), result: toStoredRow(row) });
  }

  return {
    addEvent(event, planned) {
      const ordinal = ordinals.get(planned);
      if (ordinal === undefined) return;
      const before = earlier.get(ordinal) ?? 0;
      const attempt = before + event.data.attempt;
      if (before > 0 && !resumed.has(ordinal)) {
        resumed.add(ordinal);
        addEventWithoutResult("restart", ordinal, attempt, { location: event.data.location, reason: "replica_lost" });
      }
      if (event.event === "result") addResult(ordinal, event.data, attempt);
      else addEventWithoutResult(event.event, ordinal, attempt, event.data);
    },
    addFailure({ ordinal, place }, error) {
      const row: LocationRow = { location: place, duration_ms: 0, status: "failed", error };
      addResult(ordinal, row, Math.max(1, earlier.get(ordinal) ?? 0));
    },
  };
}
