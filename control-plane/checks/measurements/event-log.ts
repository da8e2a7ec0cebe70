import type { CheckError, CheckEvent, Location, LocationRow } from "#control-plane/checks/answer.ts";
import type { Journal } from "#control-plane/checks/measurements/journal.ts";
import { toStoredRow } from "#control-plane/checks/measurements/view.ts";

/** A location without a result, with the probe that was chosen for it. */
export interface PlacedLocation {
  readonly ordinal: number;
  readonly place: Location;
}

/**
 * Adds the events of an attempt to the journal. Attempt numbers of a location continue from those of earlier attempts.
 */
export interface EventLog {
  /** Adds an event of a check. `planned` is the id of the probe that was chosen for its location. */
  addEvent(event: CheckEvent, planned: string): void;
  /** Adds a failed result for a location that no check reached. */
  addFailure(location: PlacedLocation, error: CheckError): void;
}

/**
 * Creates the log of one attempt. `earlier` holds how many probes began in earlier attempts, by ordinal of location.
 */
export function createEventLog(
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
