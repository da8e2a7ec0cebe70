import { isRecord } from "#shared/text/is-record.ts";
import type { ErrorCode, RefusalDetails } from "#control-plane/http/errors.ts";
import type { Version } from "#control-plane/http/versions.ts";

/** Position in a paginated list. */
export interface Pagination {
  readonly total: number;
  readonly page: number;
  readonly per_page: number;
  readonly pages: number;
}

/** Optional fields of meta beyond request_id, duration_ms and api_version. */
export interface Extras {
  readonly cached?: boolean;
  readonly pagination?: Pagination;
  /** Additive fields, e.g. location or share_id. Only v4 has them: older versions are frozen. */
  readonly [name: string]: unknown;
}

/** Fields of meta that every answer has. */
export interface AnswerMeta {
  readonly requestId: string;
  /** Processing time so far, whole milliseconds. */
  readonly durationMs: number;
}

/** Returns the body of a successful answer in the shape of an API version. */
export function successBody(version: Version, data: unknown, facts: AnswerMeta, extras?: Extras): object {
  switch (version) {
    case "v4":
      return { data, meta: { ...baseMeta(facts), api_version: "4.0", ...extras } };
    case "v3":
      return { data, meta: { ...baseMeta(facts), api_version: "3.0", ...frozenExtras(extras) } };
    case "v2":
      return { ok: true, data, meta: { ...baseMeta(facts), ...frozenExtras(extras) } };
    default:
      return flatBody(data, facts, extras);
  }
}

/** Returns the body of an error in the shape of an API version; only v4 shows `extras`. */
export function errorBody(
  version: Version,
  code: ErrorCode,
  details: RefusalDetails,
  facts: AnswerMeta,
  extras?: Extras,
): object {
  switch (version) {
    case "v4":
      return {
        error: errorFields(code, details),
        meta: { ...baseMeta(facts), api_version: "4.0", ...shared(details), ...extras },
      };
    case "v3":
      return { error: errorFields(code, details), meta: baseMeta(facts) };
    case "v2":
      return { ok: false, error: details.message, meta: baseMeta(facts) };
    default:
      return { success: false, error: details.message };
  }
}

/** Returns the code in an API version: up to v3, a missing or invalid url is `invalid_url`, with the same status. */
export function codeInVersion(version: Version, code: ErrorCode, field: string | undefined): ErrorCode {
  return version !== "v4" && code === "missing_parameter" && field === "url" ? "invalid_url" : code;
}

function baseMeta({ requestId, durationMs }: AnswerMeta) {
  return { request_id: requestId, duration_ms: durationMs };
}

function frozenExtras(extras: Extras | undefined) {
  if (extras === undefined) return {};
  const { cached, pagination } = extras;
  return { ...(cached === undefined ? {} : { cached }), ...(pagination === undefined ? {} : { pagination }) };
}

/** Returns a v1 body: the fields of an object are next to `success`; any other value is in `data`. */
function flatBody(data: unknown, { requestId }: AnswerMeta, extras: Extras | undefined): object {
  const isObject = isRecord(data);
  return { success: true, ...(isObject ? data : { data }), ...frozenExtras(extras), request_id: requestId };
}

function shared({ shareId }: RefusalDetails) {
  return shareId === undefined ? {} : { share_id: shareId };
}

/** Returns the members of `error`, for every shape that has more than a message. */
export function errorFields(
  code: ErrorCode,
  { message, field, reason, stage, source, retryAfterSeconds, problems }: RefusalDetails,
) {
  return {
    code,
    message,
    ...(field === undefined ? {} : { field }),
    ...(reason === undefined ? {} : { reason }),
    ...(stage === undefined ? {} : { stage }),
    ...(source === undefined ? {} : { source }),
    ...(retryAfterSeconds === undefined ? {} : { retry_after_seconds: retryAfterSeconds }),
    ...(problems === undefined ? {} : { problems }),
  };
}
