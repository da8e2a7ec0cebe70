import {
  outcomeError,
  unavailableError,
  type CheckError,
  type Location,
  type LocationRow,
} from "#control-plane/checks/answer.ts";
import type { OfflinePlace } from "#control-plane/checks/places.ts";
import type { JobAnswer } from "#control-plane/dispatch/job.ts";

/** One location's run, done. */
export interface Run {
  readonly answer: JobAnswer;
  readonly location: Location;
  readonly cached: boolean;
  readonly durationMs: number;
}

/** A run as a row of an answer over several locations. */
export function rowOf({ answer, location, durationMs }: Run): LocationRow {
  const base = { location, duration_ms: durationMs };
  const fail = (error: CheckError): LocationRow => ({ ...base, status: "failed", error });
  if (answer.kind !== "outcome")
    return fail(unavailableError(answer.kind === "unavailable" ? answer.reason : "no_probe"));
  const { outcome } = answer;
  return outcome.status === "ok" ? { ...base, status: "ok", data: outcome.data } : fail(outcomeError(outcome));
}

/** The row of a location that no probe serves now. */
export function offlineRow({ location, reason }: OfflinePlace): LocationRow {
  return { location, duration_ms: 0, status: "failed", error: unavailableError(reason) };
}
