import type { FieldProblem } from "#shared/schema/problem.ts";

/** Why a write was not done. The transaction must be rolled back. */
type WebhookRefusal =
  | { readonly code: "missing_parameter"; readonly problem: FieldProblem }
  | {
      readonly code: "invalid_url" | "target_not_allowed" | "plan_limit_exceeded" | "plan_restricted" | "not_found";
      readonly message: string;
      readonly field?: string;
    };

/** Result of a write. */
export type Written<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: WebhookRefusal };

/** Returns the refusal of one field. */
export function refuseProblem(
  field: string,
  reason: FieldProblem["reason"],
  message: string,
): Extract<Written<never>, { readonly ok: false }> {
  return { ok: false, refusal: { code: "missing_parameter", problem: { field, reason, message } } };
}

/** Returns another refusal. */
export function refuseWrite(
  code: Exclude<WebhookRefusal["code"], "missing_parameter">,
  message: string,
  field?: string,
): Extract<Written<never>, { readonly ok: false }> {
  return { ok: false, refusal: { code, message, ...(field === undefined ? {} : { field }) } };
}

/** Returns the refusal of a subscription that does not exist or belongs to another account. */
export function refuseAbsent(): Extract<Written<never>, { readonly ok: false }> {
  return refuseWrite("not_found", "No webhook has this id.");
}
