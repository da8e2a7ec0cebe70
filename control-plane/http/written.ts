import { fieldMessage, type FieldProblem } from "#shared/schema/problem.ts";
import {
  absentMessage,
  ACCOUNT_DELETED,
  Refusal,
  type ErrorCode,
  type RefusalDetails,
} from "#control-plane/http/errors.ts";

/** Why a write was not done. */
export interface WriteRefusal extends Pick<RefusalDetails, "field" | "reason" | "problems"> {
  readonly code: ErrorCode;
  /** Explanation for people. Without the field's name if the code is missing_parameter. */
  readonly message: string;
  /** Seconds to wait, for the header of rate_limit_exceeded. */
  readonly retryAfterSeconds?: number;
}

/** A write that was not done. Its transaction must be rolled back. */
export interface Refused {
  readonly ok: false;
  readonly refusal: WriteRefusal;
}

/** Result of a write. */
export type Written<T> = { readonly ok: true; readonly value: T } | Refused;

/** Returns the refusal of one field. */
export function refuseProblem({ field, reason, message }: FieldProblem): Refused {
  return refuseWrite({ code: "missing_parameter", field, reason, message });
}

/** Returns another refusal. */
export function refuseWrite(refusal: WriteRefusal): Refused {
  return { ok: false, refusal };
}

/** Returns the refusal of an id that no record has, or one of another account. `noun`: such as "status page". */
export function refuseAbsent(noun: string): Refused {
  return refuseWrite({ code: "not_found", message: absentMessage(noun) });
}

/** Returns the refusal of a write whose account was deleted after the request was admitted. */
export function refuseGone(): Refused {
  return refuseWrite({ code: "invalid_api_key", message: ACCOUNT_DELETED });
}

/** Returns the value of a write; throws its refusal as the error answer of the request. */
export function requireWritten<T>(written: Written<T>): T {
  if (written.ok) return written.value;
  const { code, message, field, reason, problems, retryAfterSeconds } = written.refusal;
  const isOfField = code === "missing_parameter" && field !== undefined;
  throw new Refusal(code, {
    message: isOfField ? fieldMessage({ field, message }) : message,
    ...(problems === undefined ? {} : { problems }),
    ...(field === undefined ? {} : { field }),
    ...(reason === undefined ? {} : { reason }),
    ...(retryAfterSeconds === undefined ? {} : { headers: { "retry-after": String(retryAfterSeconds) } }),
    ...(code === "invalid_api_key" ? { headers: { "www-authenticate": "Bearer" } } : {}),
  });
}
