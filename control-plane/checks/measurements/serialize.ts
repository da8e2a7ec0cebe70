import type { Contract } from "#shared/tools/define.ts";
import type { CheckError, Location, LocationRow, MultiData } from "#control-plane/checks/answer.ts";
import { summarise } from "#control-plane/checks/summary.ts";
import type { StoredEvent } from "#control-plane/checks/measurements/stream-store.ts";
import type { StoredLocation, StoredMeasurement } from "#control-plane/checks/measurements/store.ts";

/** Parses a stored location. */
export function parseStoredLocation(location: string): Location {
  return JSON.parse(location) as Location;
}

/** Returns a stored location as a row of an answer; null while it has no result. */
function readRow(stored: Omit<StoredLocation, "ordinal">): LocationRow | null {
  const { status, result, durationMs } = stored;
  if (status === null || result === null) return null;
  const base = { location: parseStoredLocation(stored.location), duration_ms: durationMs ?? 0 };
  return status === "ok"
    ? { ...base, status, data: JSON.parse(result) as unknown }
    : { ...base, status, error: JSON.parse(result) as CheckError };
}

/** Returns a row of an answer in the form in which it is stored; the inverse of `readRow`. */
export function toStoredRow(row: LocationRow): Omit<StoredLocation, "ordinal"> {
  return {
    location: JSON.stringify(row.location),
    status: row.status,
    result: JSON.stringify(row.status === "ok" ? row.data : row.error),
    durationMs: row.duration_ms,
  };
}

/** Returns the data of a stored event as a stream sends it. */
export function parseStoredEvent(stored: StoredEvent): unknown {
  const data = JSON.parse(stored.data) as Record<string, unknown>;
  const row = stored.event === "result" ? readRow(stored) : null;
  return row === null ? data : { ...row, ...data };
}

/** Returns a measurement without its results, as lists show it. */
export function showSummary(measurement: StoredMeasurement, total: number, completed: number) {
  const { id, status, tool, params, createdAt, startedAt, finishedAt, shareId } = measurement;
  return {
    id,
    status,
    tool,
    params: JSON.parse(params) as Record<string, unknown>,
    total,
    completed,
    created_at: createdAt.toISOString(),
    started_at: startedAt?.toISOString() ?? null,
    finished_at: finishedAt?.toISOString() ?? null,
    share_id: shareId,
  };
}

/** Returns the results so far, in the shape of the tool's own answer for several locations. */
function showData(contract: Contract | undefined, locations: readonly StoredLocation[]): MultiData {
  const rows = locations.map(readRow).filter((row) => row !== null);
  const ok = rows.filter((row) => row.status === "ok").length;
  const summary =
    contract === undefined
      ? { total: rows.length, ok, failed: rows.length - ok, consistent: null }
      : summarise(contract, rows);
  return { locations: rows, summary };
}

/** Returns a measurement with its results so far. */
export function showMeasurement(
  measurement: StoredMeasurement,
  locations: readonly StoredLocation[],
  contract: Contract | undefined,
) {
  const completed = locations.filter((location) => location.status !== null).length;
  return {
    ...showSummary(measurement, locations.length, completed),
    progress_dropped: measurement.dropped,
    data: showData(contract, locations),
  };
}
