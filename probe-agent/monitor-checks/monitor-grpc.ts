import { ok, type Outcome } from "#shared/contracts/outcome.ts";
import { createRedact, unredacted, type Redact } from "#shared/text/redact.ts";
import type { MonitorFault } from "#shared/monitor-checks/define.ts";
import { monitorGrpc as contract } from "#shared/monitor-checks/monitor-grpc.ts";
import type { ParamsOf } from "#shared/tools/define.ts";
import { secureStream, type ServerTrust } from "#probe-agent/monitor-checks/server-trust.ts";
import { answerOverStream } from "#probe-agent/monitor-checks/stream-answer.ts";
import type { Http2Request, Stream, Http2Answer } from "#probe-agent/port/stream.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { implement } from "#probe-agent/tools/implement.ts";
import {
  decodeStatus,
  encodeRequest,
  HEALTH_PATH,
  PREFIX_BYTES,
  SERVING_STATUS,
} from "#probe-agent/analysis/network/grpc-health.ts";
import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import { quoted } from "#probe-agent/monitor-checks/octets.ts";

type Params = ParamsOf<typeof contract>;

/** Maximum number of octets of the answer. One has two octets, and the prefix. */
const MOST_BODY_BYTES = 65_536;

/**
 * Asks the health service of a gRPC server once (grpc.health.v1.Health/Check). Nothing is sent to a server whose
 * certificate is not trusted, because metadata can be secret. Failures are those of Stream.
 */
export const monitorGrpc = implement(contract, async (net, params) => {
  const startedAt = net.monotonic();
  const { host, port, tls, metadata } = params;
  const redact = createRedact(metadata.map(([, value]) => value));
  const opened = await net.stream.open({ at: { host, port }, maxBytes: MOST_BODY_BYTES, redact });
  if (opened.status !== "ok") return opened;
  const stream = opened.data;
  try {
    const secured = tls ? await secureStream(net, stream, ["h2"]) : null;
    const trust = secured?.status === "ok" ? secured.data : null;
    const ended =
      secured !== null && secured.status !== "ok" ? explainTls(secured) : await askHealth(net, stream, params, trust);
    if (ended.status !== "ok") return ended;
    const responseMs = net.monotonic() - startedAt;
    const { code: httpStatus, examined } = ended.data;
    return ok(await answerOverStream(stream, { fault: examined, httpStatus, responseMs, trust }, params));
  } finally {
    stream.close();
  }
});

/** The HTTP status, null if there is no answer, and what is wrong with it. */
interface Asked {
  readonly code: number | null;
  readonly examined: MonitorFault | null;
}

async function askHealth(net: Net, stream: Stream, params: Params, trust: ServerTrust | null): Promise<Outcome<Asked>> {
  const refusal = trust === null ? null : (trust.fault ?? (trust.alpn === "h2" ? null : NO_HTTP2));
  if (refusal !== null) return ok({ code: null, examined: refusal });
  const answer = await stream.exchangeHttp2(requestOf(net, stream, params));
  if ("status" in answer) return answer;
  return ok({ code: answer.code, examined: examineHealth(answer, params.service, stream.redact) });
}

/** gRPC needs HTTP/2, which a server agrees to by ALPN. */
const NO_HTTP2: MonitorFault = {
  stage: "tls",
  reason: "no_http2",
  message: "the server does not offer HTTP/2 (ALPN h2), which gRPC needs",
};

/** A server that refuses the only protocol on offer has answered. */
function explainTls(outcome: Exclude<Outcome<never>, { status: "ok" }>): Outcome<Asked> {
  const isRefusal = outcome.status === "failed" && outcome.reason === "no_application_protocol";
  return isRefusal ? ok({ code: null, examined: NO_HTTP2 }) : outcome;
}

function requestOf(net: Net, { host, port }: Stream, { service, metadata }: Params): Http2Request {
  return {
    authority: `${host.includes(":") ? `[${host}]` : host}:${port}`,
    path: HEALTH_PATH,
    headers: [
      ["content-type", "application/grpc"],
      ["te", "trailers"],
      ["user-agent", net.stream.userAgent],
      ["grpc-timeout", `${Math.max(1, Math.floor(net.remainingMs()))}m`],
      ...metadata,
    ],
    body: encodeRequest(service),
    maxBodyBytes: MOST_BODY_BYTES,
  };
}

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
function examineHealth(answer: Http2Answer, service: string | null, redact: Redact): MonitorFault | null {
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
