import {
  outcomeError,
  unavailableError,
  type CheckError,
  type Location,
  type LocationRow,
} from "#control-plane/checks/answer.ts";
import type { OfflinePlace } from "#control-plane/checks/places.ts";
import type { JobAnswer } from "#control-plane/dispatch/job.ts";

/** A completed run at one location. */
export interface Run {
  readonly answer: JobAnswer;
  readonly location: Location;
  readonly cached: boolean;
  readonly durationMs: number;
}

/** Converts a run to a row of an answer with several locations. */
export function rowOf({ answer, location, durationMs }: Run): LocationRow {
  const base = { location, duration_ms: durationMs };
  const fail = (error: CheckError): LocationRow => ({ ...base, status: "failed", error });
  if (answer.kind !== "outcome")
    return fail(unavailableError(answer.kind === "unavailable" ? answer.reason : "no_probe"));
  const { outcome, artifact } = answer;
  if (outcome.status !== "ok") return fail(outcomeError(outcome));
  return { ...base, status: "ok", data: outcome.data, ...(artifact === undefined ? {} : { artifact }) };
}

/** Returns the row of a location without an available probe. */
export function offlineRow({ location, reason }: OfflinePlace): LocationRow {
  return { location, duration_ms: 0, status: "failed", error: unavailableError(reason) };
}
