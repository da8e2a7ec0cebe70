import { failed, type Failed, type Source, type Stage } from "#shared/contracts/outcome.ts";
import type { BodyBreak } from "#shared/tools/http-body.ts";

/**
 * Error of an operation that reached the deadline. Failures of the HTTP client have these reasons, by stage:
 * connect: refused, unreachable, timeout, reset, local_error.
 * tls: handshake, the name of the server's alert (handshake_failure, internal_error, ...), protocol_version,
 * no_shared_cipher, not_tls, unrecognized_name, no_application_protocol, certificate_required, bad_certificate, closed,
 * reset, timeout.
 * request: reset, timeout.
 * response: timeout, reset, closed, not_http, protocol_error, headers_overflow, informational_flood, http_1_1_required.
 * dns: those of DnsPort.
 */
export class DeadlineError extends Error {
  /** Has the place of the code of Node's own errors (see errorCode). */
  readonly code = "DEADLINE";
}

/** Returns the code of a Node error; empty if it has none. */
export function errorCode(error: unknown): string {
  const code: unknown = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "";
}

const CONNECT_REASONS: Readonly<Record<string, readonly [reason: string, source: Source, words: string]>> = {
  ECONNREFUSED: ["refused", "target", "no service listens on the port, or a firewall rejects the connection"],
  ECONNRESET: ["reset", "target", "the connection was reset during setup"],
  ETIMEDOUT: ["timeout", "target", "connection timed out"],
  DEADLINE: ["timeout", "target", "connection timed out"],
  EHOSTUNREACH: ["unreachable", "target", "a router reports that the host is unreachable"],
  EHOSTDOWN: ["unreachable", "target", "the host is down"],
  ENETUNREACH: ["unreachable", "target", "a router reports that the network is unreachable"],
};

/**
 * Returns the failure of a TCP connection. `isImmediate`: the error occurred before anything could have been sent, so
 * "network unreachable" means that the probe has no route (e.g. no IPv6) and is not a router's answer.
 */
export function connectFailure(error: unknown, where: string, isImmediate: boolean): Failed {
  const code = errorCode(error);
  if (code === "EAFNOSUPPORT" || (code === "ENETUNREACH" && isImmediate)) {
    return failed("connect", "probe", "unreachable", `${where}: this probe has no route to the address`);
  }
  const [reason, source, words] = CONNECT_REASONS[code] ?? ["local_error", "probe", `the probe could not connect`];
  return failed("connect", source, reason, `${where}: ${words}`);
}

/** Reasons by OpenSSL's name of an error (Node: ERR_SSL_<name>). The server sends the alerts of RFC 8446 section 6. */
const TLS_REASONS: readonly (readonly [RegExp, reason: string, words: string])[] = [
  [/PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW/, "protocol_version", "no common TLS version"],
  [
    /WRONG_VERSION_NUMBER|HTTP_REQUEST|PACKET_LENGTH_TOO_LONG|UNEXPECTED_MESSAGE/,
    "not_tls",
    "the port does not speak TLS",
  ],
  [/RECORD_(TOO_SMALL|LENGTH_MISMATCH)|BAD_RECORD_TYPE/, "not_tls", "the port does not speak TLS"],
  [/UNRECOGNIZED_NAME/, "unrecognized_name", "the server does not serve this name (SNI)"],
  [/NO_APPLICATION_PROTOCOL/, "no_application_protocol", "no common application protocol (ALPN)"],
  [/CERTIFICATE_REQUIRED/, "certificate_required", "the server requires a client certificate"],
  [/NO_SHARED_CIPHER|NO_CIPHERS_AVAILABLE|WRONG_CIPHER/, "no_shared_cipher", "no common cipher suite"],
  [
    /ALERT_(BAD|UNSUPPORTED|UNKNOWN)_C/,
    "bad_certificate",
    "the server refused a handshake without a client certificate",
  ],
];

/** Returns the failure of TLS, during the handshake or (TLS 1.3 client authentication) on the first read after it. */
export function tlsFailure(error: unknown, where: string): Failed {
  const code = errorCode(error);
  if (code === "DEADLINE" || code === "ETIMEDOUT") {
    return failed("tls", "target", "timeout", `${where}: the TLS handshake timed out`);
  }
  if (code === "ECONNRESET" || code === "EPIPE") {
    // Node reports an orderly close during the handshake under the same code, without a system call.
    const abrupt = (error as { syscall?: unknown }).syscall !== undefined;
    return abrupt
      ? failed("tls", "target", "reset", `${where}: the connection was reset during the TLS handshake`)
      : failed("tls", "target", "closed", `${where}: the server closed the connection during the TLS handshake`);
  }
  const [, reason, words] = TLS_REASONS.find(([pattern]) => pattern.test(code)) ?? [];
  if (reason !== undefined) return failed("tls", "target", reason, `${where}: ${words ?? reason}`);
  const alert = /^[A-Z_]+$/.exec(code.split("_ALERT_")[1] ?? "")?.[0].toLowerCase();
  if (alert !== undefined) {
    return failed("tls", "target", alert, `${where}: the server ended the handshake with the alert ${alert}`);
  }
  const detail = code.replace(/^ERR_(SSL|TLS)_/, "").toLowerCase();
  return failed(
    "tls",
    "target",
    "handshake",
    `${where}: the TLS handshake failed${detail === "" ? "" : ` (${detail})`}`,
  );
}

/** Returns the failure of an exchange on an open connection. */
export function exchangeFailure(error: unknown, stage: Stage, where: string): Failed {
  const code = errorCode(error);
  if (code.startsWith("ERR_SSL_")) return tlsFailure(error, where);
  if (code === "DEADLINE" || code === "ETIMEDOUT") {
    const words =
      stage === "request" ? "the request could not be sent in time" : "the response did not complete in time";
    return failed(stage, "target", "timeout", `${where}: ${words}`);
  }
  return failed(stage, "target", "reset", `${where}: the connection was lost`);
}

/**
 * Returns why a body was cut short on an open connection. reset: a TCP reset, or HTTP/2's RST_STREAM or GOAWAY;
 * timeout: the deadline; tls_error: an invalid record, or an alert; protocol_error: frames that are not HTTP/2.
 */
export function bodyBreak(error: unknown): Exclude<BodyBreak, "incomplete"> {
  const code = errorCode(error);
  if (code === "DEADLINE" || code === "ETIMEDOUT") return "timeout";
  if (code.startsWith("ERR_SSL_")) return "tls_error";
  return code === "ERR_HTTP2_ERROR" ? "protocol_error" : "reset";
}
