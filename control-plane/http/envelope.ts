import { isRecord } from "#shared/is-record.ts";
import type { ErrorCode, RefusalDetails } from "#control-plane/http/errors.ts";
import type { Version } from "#control-plane/http/versions.ts";

/** Position in a paginated list; other answers have none. */
export interface Pagination {
  readonly total: number;
  readonly page: number;
  readonly per_page: number;
  readonly pages: number;
}

/** What an answer may say about itself beyond request_id, duration_ms and api_version. */
export interface Extras {
  readonly cached?: boolean;
  readonly pagination?: Pagination;
  /** Additive fields, e.g. location or share_id: shown by v4 only, since older versions are frozen. */
  readonly [name: string]: unknown;
}

/** The part of meta that every answer has. */
export interface Facts {
  readonly requestId: string;
  /** Processing time so far, whole milliseconds. */
  readonly durationMs: number;
}

/** The body of a success in the shape of an API version. */
export function successBody(version: Version, data: unknown, facts: Facts, extras?: Extras): object {
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

/** The body of an error in a version's shape; `extras` are shown by v4 only. */
export function errorBody(
  version: Version,
  code: ErrorCode,
  details: RefusalDetails,
  facts: Facts,
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

/** v3 and before call an absent or unusable url `invalid_url`; the status is the same. */
export function codeInVersion(version: Version, code: ErrorCode, field: string | undefined): ErrorCode {
  return version !== "v4" && code === "missing_parameter" && field === "url" ? "invalid_url" : code;
}

function baseMeta({ requestId, durationMs }: Facts) {
  return { request_id: requestId, duration_ms: durationMs };
}

function frozenExtras(extras: Extras | undefined) {
  if (extras === undefined) return {};
  const { cached, pagination } = extras;
  return { ...(cached === undefined ? {} : { cached }), ...(pagination === undefined ? {} : { pagination }) };
}

/** v1 is flat: the fields of an object stand beside `success`; a list, which has none, stands under `data`. */
function flatBody(data: unknown, { requestId }: Facts, extras: Extras | undefined): object {
  const isObject = isRecord(data);
  return { success: true, ...(isObject ? data : { data }), ...frozenExtras(extras), request_id: requestId };
}

function shared({ shareId }: RefusalDetails) {
  return shareId === undefined ? {} : { share_id: shareId };
}

/** The members of `error` in every shape that has more than a message. */
export function errorFields(
  code: ErrorCode,
  { message, field, reason, stage, source, retryAfterSeconds }: RefusalDetails,
) {
  return {
    code,
    message,
    ...(field === undefined ? {} : { field }),
    ...(reason === undefined ? {} : { reason }),
    ...(stage === undefined ? {} : { stage }),
    ...(source === undefined ? {} : { source }),
    ...(retryAfterSeconds === undefined ? {} : { retry_after_seconds: retryAfterSeconds }),
  };
}
