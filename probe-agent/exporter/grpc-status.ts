import { decodeStatus, PREFIX_BYTES, SERVING_STATUS } from "#probe-agent/analysis/network/grpc-health.ts";
import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import type { Http2Answer } from "#probe-agent/port/stream.ts";

/** Codes of gRPC that a client itself gives (gRPC core documentation, status codes). */
export const CODE = {
  ok: 0,
  canceled: 1,
  unknown: 2,
  deadlineExceeded: 4,
  permissionDenied: 7,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** A status code; and with OK the status of the service, a name or the number of an unknown one. */
export interface Health {
  readonly code: number;
  readonly serving: string | null;
}

/** Codes by HTTP status, where a server does not speak gRPC (gRPC core documentation, http-grpc-status-mapping). */
const BY_HTTP_STATUS: Readonly<Record<number, number>> = {
  400: CODE.internal,
  401: CODE.unauthenticated,
  403: CODE.permissionDenied,
  404: CODE.unimplemented,
  429: CODE.unavailable,
  502: CODE.unavailable,
  503: CODE.unavailable,
  504: CODE.unavailable,
};

/** Codes by that of a reset (PROTOCOL-HTTP2, Errors), where it is not INTERNAL. */
const BY_RESET: Readonly<Record<number, number>> = {
  3: CODE.resourceExhausted,
  7: CODE.unavailable,
  8: CODE.canceled,
  11: CODE.resourceExhausted,
  12: CODE.permissionDenied,
};

/** Octets of the largest message that grpc-go accepts. */
const MOST_MESSAGE_BYTES = 4_194_304;

/** Returns the code of a stream that the server reset. */
export function resetCode(http2Code: number): number {
  return BY_RESET[http2Code] ?? CODE.internal;
}

/** Reads the answer of a health service as the client of the exporter does, grpc-go 1.5x. */
export function readHealth(answer: Http2Answer): Health {
  const { headers, trailers, body } = answer;
  const [type = ""] = headerValues(headers, "content-type");
  if (!/^application\/grpc(?:$|[+;])/i.test(type)) return ended(BY_HTTP_STATUS[answer.code] ?? CODE.unknown);
  // A status in the head counts if the head is all there is (Trailers-Only).
  const [early] = headerValues(headers, "grpc-status");
  if (early !== undefined && body.length === 0 && trailers.length === 0) return ended(codeOf(early) || CODE.unknown);
  const message = readMessage(answer);
  if (typeof message === "number") return ended(message);
  if (trailers.length === 0) return ended(CODE.internal);
  const [late] = headerValues(trailers, "grpc-status");
  const code = late === undefined ? CODE.unknown : codeOf(late);
  if (code !== CODE.ok) return ended(code);
  if (message === null) return ended(CODE.unknown);
  const number = decodeStatus(message);
  return number === null ? ended(CODE.internal) : { code, serving: SERVING_STATUS[number] ?? String(number) };
}

function ended(code: number): Health {
  return { code, serving: null };
}

function codeOf(status: string): number {
  return /^\d{1,9}$/.test(status) ? Number(status) : CODE.internal;
}

/** Returns the one message of a body, null for an empty body, or the code of what is wrong with it. */
function readMessage({ body, truncated }: Http2Answer): Buffer | null | number {
  const octets = Buffer.from(body);
  if (octets.length === 0) return null;
  if (octets.length < PREFIX_BYTES) return CODE.internal;
  const length = octets.readUInt32BE(1);
  const end = PREFIX_BYTES + length;
  // A longer body than is kept is of no health service.
  if (truncated || length > MOST_MESSAGE_BYTES) return CODE.resourceExhausted;
  if (octets[0] !== 0 || octets.length < end) return CODE.internal;
  return octets.length > end ? CODE.unknown : octets.subarray(PREFIX_BYTES);
}
