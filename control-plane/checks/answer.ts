import type { Outcome, Source, Stage } from "#shared/contracts/outcome.ts";
import { fieldMessage, type FieldProblem } from "#shared/schema/problem.ts";
import type { Place } from "#shared/internet/locations.ts";
import type { Artifact } from "#control-plane/checks/dispatch/artifacts.ts";

/** Location of a check, as shown in answers. */
export type Location = Omit<Place, "tags">;

/** A failed check as every surface reports it, with the fields of an error answer. */
export interface CheckError {
  readonly code:
    | "request_failed"
    | "target_not_allowed"
    | "missing_parameter"
    | "probe_unavailable"
    | "rate_limit_exceeded";
  readonly message: string;
  readonly stage?: Stage;
  readonly source?: Source;
  readonly reason?: string;
  readonly field?: string;
  /** Seconds to wait before a retry. */
  readonly retry_after_seconds?: number;
}

/** Result of one location in an answer; with the file of a contract that has one, which only monitors run. */
export type LocationRow = {
  readonly location: Location;
  readonly duration_ms: number;
} & (
  | { readonly status: "ok"; readonly data: unknown; readonly artifact?: Artifact }
  | { readonly status: "failed"; readonly error: CheckError }
);

/** Answer of a check at several locations: one row per location, and a summary. */
export interface MultiData {
  readonly locations: readonly LocationRow[];
  readonly summary: Readonly<Record<string, unknown>>;
}

/** Result of a call. All kinds but the first three are decided without an answer of an agent, or cancelled. */
export type CheckAnswer =
  | {
      readonly kind: "single";
      readonly outcome: Outcome<unknown>;
      readonly location: Location;
      readonly cached: boolean;
    }
  | { readonly kind: "multi"; readonly data: MultiData; readonly refused: boolean }
  | {
      readonly kind: "dry_run";
      readonly locations: readonly Location[];
      /** Requested locations whose probes are all offline. */
      readonly offline: readonly Location[];
    }
  | { readonly kind: "unavailable"; readonly reason: string }
  | { readonly kind: "cancelled" }
  | { readonly kind: "refused" }
  | { readonly kind: "over_budget"; readonly retryAfterSeconds: number }
  | { readonly kind: "problem"; readonly problem: FieldProblem }
  | { readonly kind: "over_plan"; readonly limit: number; readonly asked: number };

/** Live events of a running check, in the order they happened. */
export type CheckEvent =
  | { readonly event: "probe"; readonly data: { location: Location; attempt: number } }
  | { readonly event: "progress"; readonly data: { location: Location; attempt: number; kind: string; data: unknown } }
  | { readonly event: "restart"; readonly data: { location: Location; attempt: number; reason: string } }
  | { readonly event: "result"; readonly data: LocationRow & { attempt: number } };

/** The error of a target that the egress rules forbid: one text for all of them. */
export const TARGET_NOT_ALLOWED: CheckError = {
  code: "target_not_allowed",
  message: "This target is not allowed: it is not on the public internet, or not in a form that can be verified.",
};

const UNAVAILABLE: Readonly<Record<string, string>> = {
  no_probe: "No probe is online for this location.",
  probe_elsewhere: "The probe of this location is connected to another replica of the service. Repeat the request.",
  declined: "Every probe of this location declined the check.",
  probe_lost: "The probe disconnected while it ran the check, and no other probe is online for this location.",
  busy: "Every probe of this location is busy.",
};

/** Temporary reasons, after which a retry can succeed. */
const PASSING: ReadonlySet<string> = new Set(["busy", "probe_elsewhere"]);

/** Returns the error of a location without an available agent. */
export function unavailableError(reason: string): CheckError {
  const error: CheckError = {
    code: "probe_unavailable",
    reason,
    message: UNAVAILABLE[reason] ?? "No probe is available.",
  };
  return PASSING.has(reason) ? { ...error, retry_after_seconds: 1 } : error;
}

/** Returns the error of a target whose limit of calls in this minute is reached. */
export function overBudgetError(retryAfterSeconds: number): CheckError {
  const message = `The limit of checks per minute for this target, over all callers, is reached. Wait ${retryAfterSeconds} s.`;
  return { code: "rate_limit_exceeded", reason: "target_budget", message };
}

/** Returns the error of an outcome that is not ok. */
export function outcomeError(outcome: Exclude<Outcome<unknown>, { status: "ok" }>): CheckError {
  switch (outcome.status) {
    case "refused":
      return TARGET_NOT_ALLOWED;
    case "invalid":
      return { code: "missing_parameter", field: outcome.field, reason: "type", message: fieldMessage(outcome) };
    case "failed": {
      const { stage, source, reason, message } = outcome;
      return { code: "request_failed", message, stage, source, reason };
    }
  }
}

/** Returns a place without the fields that only the choice of probes needs. */
export function locationOf(place: Place): Location {
  const { probe_id, region, country, city, asn, latitude, longitude } = place;
  return { probe_id, region, country, city, asn, latitude, longitude };
}
