import { fieldMessage, type Read } from "#shared/schema/problem.ts";
import type { Source, Stage } from "#shared/contracts/outcome.ts";

/** HTTP status of every error code of the API. The table is closed, because clients switch on the codes. */
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

/** An error code of the API. */
export type ErrorCode = keyof typeof STATUS_OF_CODE;

/** A problem with a row of a document; `field` is a path in the row, null: the whole row. */
interface RowRefusal {
  readonly row: string;
  readonly id?: number;
  readonly field: string | null;
  readonly reason: string;
  readonly message: string;
}

/** Fields of an error answer beyond its code. */
export interface RefusalDetails {
  /** Explanation for people: what was wrong, what is allowed, what to do. */
  readonly message: string;
  /** Name of the invalid parameter. */
  readonly field?: string;
  /** Cause, as a fixed word for programs. */
  readonly reason?: string;
  readonly stage?: Stage;
  readonly source?: Source;
  /** Seconds to wait before a retry, in the body; for retryable answers other than 429. */
  readonly retryAfterSeconds?: number;
  /** Every problem with a document, if it has rows. */
  readonly problems?: readonly RowRefusal[];
  /** Id of the stored failure, in meta. */
  readonly shareId?: string;
  /** Extra header fields of this answer. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error answer. Routes and surfaces throw it; http/error-handler.ts renders it. */
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

/** A field that is refused. */
export interface RefusedField {
  readonly field: string;
  readonly reason: string;
  /** Explanation for people, without the name of the field. */
  readonly message: string;
}

/** Creates the 400 for one invalid parameter, from a problem of parseParams. */
export function refuseField({ field, reason, message }: RefusedField): Refusal {
  return new Refusal("missing_parameter", { field, reason, message: fieldMessage({ field, message }) });
}

/** Returns a value that was read from a request; throws the 400 of its problem. */
export function requireRead<T>(read: Read<T>): T {
  if (read.ok) return read.value;
  throw refuseField(read.problem);
}

/** Returns a record that was looked up by the id of a request; throws the 404. `noun`: such as "status page". */
export function requireFound<T>(found: T | null, noun: string): T {
  if (found === null) throw new Refusal("not_found", absentMessage(noun));
  return found;
}

/** Says that no record of a kind has the id of the request; the same for the ids of other accounts. */
export function absentMessage(noun: string): string {
  return `No ${noun} has this id.`;
}

/** Message of the 401 for a key whose account was deleted after the request was admitted. */
export const ACCOUNT_DELETED = "The account of this API key was deleted.";

/** Creates the 401 for a key whose account was deleted after the request was admitted. */
export function accountDeleted(): Refusal {
  return new Refusal("invalid_api_key", { message: ACCOUNT_DELETED, headers: { "www-authenticate": "Bearer" } });
}

/** Creates the 503 for an unavailable database; the request is refused and can be retried after 1 s. */
export function serviceUnavailable(message = "The service is temporarily unavailable. Try again in 1 s."): Refusal {
  return new Refusal("service_unavailable", { message, retryAfterSeconds: 1 });
}
