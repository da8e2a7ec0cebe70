import type { RowProblem } from "#control-plane/document-part.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";

/** Why a write was not done. The transaction must be rolled back. */
export interface MonitorRefusal {
  readonly code:
    | "missing_parameter"
    | "target_not_allowed"
    | "plan_limit_exceeded"
    | "probe_unavailable"
    | "rate_limit_exceeded"
    | "invalid_api_key"
    | "not_found";
  /** Explanation for people. Without the field's name if the code is missing_parameter. */
  readonly message: string;
  readonly field?: string;
  readonly reason?: string;
  /** Problems with the rows of a document; the other fields are those of the first one. */
  readonly problems?: readonly Pick<RowProblem, "row" | "field" | "reason" | "message">[];
  /** Seconds to wait; for rate_limit_exceeded. */
  readonly retryAfterSeconds?: number;
}

/** Result of a write. */
export type Written<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: MonitorRefusal };

/** Returns the refusal of one field. */
export function refuseProblem({ field, reason, message }: FieldProblem): Written<never> {
  return { ok: false, refusal: { code: "missing_parameter", field, reason, message } };
}

/** Returns another refusal. */
export function refuseWrite(refusal: MonitorRefusal): Written<never> {
  return { ok: false, refusal };
}

/** Message for an id that none of the account's monitors has. */
export const NO_MONITOR = "No monitor has this id.";

/** Returns the refusal of a monitor that does not exist or belongs to another account. */
export function refuseAbsent(): Written<never> {
  return refuseWrite({ code: "not_found", message: NO_MONITOR });
}

/** Returns the refusal of a write whose account was deleted after the request was admitted. */
export function refuseGone(): Written<never> {
  return refuseWrite({ code: "invalid_api_key", message: "The account of this API key was deleted." });
}
