import { fieldMessage } from "#shared/schema/problem.ts";
import type { Source, Stage } from "#shared/outcome.ts";

/** Every error code the API answers with, and its HTTP status. Clients switch on the codes, so the table is closed. */
export const STATUS_OF_CODE = {
  missing_parameter: 400,
  invalid_url: 400,
  target_not_allowed: 400,
  auth_required: 401,
  invalid_api_key: 401,
  insufficient_scope: 403,
  plan_limit_exceeded: 403,
  plan_restricted: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  gone: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_mismatch: 422,
  rate_limit_exceeded: 429,
  daily_limit_exceeded: 429,
  internal_error: 500,
  request_failed: 502,
  probe_unavailable: 503,
  service_unavailable: 503,
} as const;

/** One of the codes of the closed table. */
export type ErrorCode = keyof typeof STATUS_OF_CODE;

/** What an error answer says beyond its code. */
export interface RefusalDetails {
  /** For people: what was wrong, what is allowed, what to do. */
  readonly message: string;
  /** The parameter it is about. */
  readonly field?: string;
  /** A stable word for programs. */
  readonly reason?: string;
  readonly stage?: Stage;
  readonly source?: Source;
  /** In the body; for answers other than 429 that are worth repeating. */
  readonly retryAfterSeconds?: number;
  /** In meta: the failure was kept under this id. */
  readonly shareId?: string;
  /** Header fields of this answer only. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer that is an error: thrown by routes and surfaces, rendered by one handler (http/error-handler.ts). */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly code: ErrorCode;
  readonly details: RefusalDetails;

  constructor(code: ErrorCode, details: RefusalDetails | string) {
    const described = typeof details === "string" ? { message: details } : details;
    super(described.message);
    this.code = code;
    this.details = described;
  }

  /** The HTTP status of the code. */
  get status(): number {
    return STATUS_OF_CODE[this.code];
  }
}

/** 400 for one parameter, from a problem that parseParams found. */
export function refuseField(problem: {
  readonly field: string;
  readonly reason: string;
  readonly message: string;
}): Refusal {
  const { field, reason, message } = problem;
  return new Refusal("missing_parameter", { field, reason, message: fieldMessage({ field, message }) });
}

/** 503 while the database is away: never open, and worth another attempt in a second. */
export function serviceUnavailable(message = "The service is temporarily unavailable. Try again in 1 s."): Refusal {
  return new Refusal("service_unavailable", { message, retryAfterSeconds: 1 });
}
