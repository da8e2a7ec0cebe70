import { unredacted, type Redact } from "#shared/text/redact.ts";
import type { MonitorFault } from "#shared/monitor-checks/define.ts";
import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import { decodeStatus, PREFIX_BYTES, SERVING_STATUS } from "#probe-agent/monitor-checks/grpc/health.ts";
import { quoted } from "#probe-agent/monitor-checks/words.ts";
import type { Http2Answer } from "#probe-agent/port/stream.ts";

/** Names of the status codes of gRPC, by number (gRPC core documentation, status codes). */
const STATUS_NAMES = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
] as const;
const OK = 0;

/** Returns why the answer of a health service is not SERVING; null if it is. `service` null: the server as a whole. */
export function examineHealth(answer: Http2Answer, service: string | null, redact: Redact): MonitorFault | null {
  const { code, headers, trailers } = answer;
  if (code !== 200) return fault("unexpected_status", `expected 200, got ${code}`);
  const [type = ""] = headerValues(headers, "content-type");
  if (!/^application\/grpc(?:$|[+;])/i.test(type)) {
    const shown = type === "" ? "it has no content-type" : `its content-type is ${quoted(type, redact)}`;
    return fault("not_grpc", `the answer is not gRPC: ${shown}`);
  }
  // Without a body, the head is the only one and has the status (Trailers-Only).
  const ending = headerValues(trailers, "grpc-status").length > 0 ? trailers : headers;
  const [status] = headerValues(ending, "grpc-status");
  if (status !== undefined && status !== String(OK)) {
    return examineStatus(status, headerValues(ending, "grpc-message")[0] ?? "", service, redact);
  }
  const unread = examinePrefix(answer);
  if (unread !== null) return unread;
  if (status === undefined) return fault("no_grpc_status", "the answer ends without a grpc-status");
  return examineMessage(Buffer.from(answer.body).subarray(PREFIX_BYTES), service);
}

function examineStatus(status: string, message: string, service: string | null, redact: Redact): MonitorFault {
  const name = /^\d{1,2}$/.test(status) ? STATUS_NAMES[Number(status)] : undefined;
  if (name === undefined) return fault("grpc_status", `the server answered the gRPC status ${quoted(status, redact)}`);
  const reason = `grpc_${name.toLowerCase()}`;
  if (name === "UNIMPLEMENTED") return fault(reason, "the server has no health service (grpc.health.v1)");
  if (name === "NOT_FOUND" && service !== null) {
    return fault(reason, `the server does not know the service ${quoted(service, unredacted)}`);
  }
  const text = decodePercent(message);
  return fault(reason, `the server answered ${name}${text.trim() === "" ? "" : `: ${quoted(text, redact)}`}`);
}

/** Decodes a grpc-message: octets of UTF-8, some of them as %XX. An invalid escape is kept as it is. */
function decodePercent(latin1: string): string {
  const octets = latin1.replaceAll(/%([0-9A-Fa-f]{2})/g, (_whole, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(octets, "latin1").toString("utf8");
}

/** Returns the fault of a body that is not one message; null if it is. */
function examinePrefix({ body, truncated }: Http2Answer): MonitorFault | null {
  const octets = Buffer.from(body);
  if (octets.length === 0) return fault("no_message", "the server answered OK without a message");
  if (octets.length < PREFIX_BYTES) return fault("message_incomplete", "the message is incomplete");
  const length = octets.readUInt32BE(1);
  if (truncated || length > octets.length - PREFIX_BYTES) {
    const announced = `the message has ${length.toLocaleString("en-US")} bytes`;
    return truncated
      ? fault("message_too_large", `the server sent more than 64 KB; ${announced}`)
      : fault("message_incomplete", `${announced}, and ${octets.length - PREFIX_BYTES} were sent`);
  }
  if (octets[0] !== 0)
    return fault("message_compressed", "the message is compressed, which the request does not allow");
  return length === octets.length - PREFIX_BYTES
    ? null
    : fault("several_messages", "the server sent more than one message");
}

function examineMessage(message: Buffer, service: string | null): MonitorFault | null {
  const number = decodeStatus(message);
  if (number === null) return fault("message_malformed", "the message is no HealthCheckResponse");
  const status = SERVING_STATUS[number];
  if (status === "SERVING") return null;
  const who = service === null ? "the server" : `the service ${quoted(service, unredacted)}`;
  if (status === undefined) return fault("health_status", `${who} has the unknown health status ${number}`);
  const reason = status === "UNKNOWN" ? "health_unknown" : status.toLowerCase();
  return fault(reason, `${who} is ${status}`);
}

function fault(reason: string, message: string): MonitorFault {
  return { stage: "response", reason, message };
}
