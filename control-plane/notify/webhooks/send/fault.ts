/** Error of a connection that another address than the vetted one has answered. */
export const WRONG_PEER = "VANTAGE_WRONG_PEER";
/** Error of a connection that took longer than its time limit. */
export const SLOW_CONNECT = "VANTAGE_SLOW_CONNECT";
/** Error of an answer whose head is too large. */
export const HEAD_OVERFLOW = "HPE_HEADER_OVERFLOW";
/** Error of a receiver that answers 101. */
export const PROTOCOL_SWITCHED = "VANTAGE_PROTOCOL_SWITCHED";
/** Error of a receiver that sends too many informational answers. */
export const TOO_MANY_INFORMATIONAL = "VANTAGE_TOO_MANY_INFORMATIONAL";

/** Why there is no answer: a word for programs and a sentence for people. */
export interface SendFault {
  readonly code:
    | "dns_failed"
    | "target_not_allowed"
    | "connection_refused"
    | "connection_reset"
    | "unreachable"
    | "timeout"
    | "tls_certificate"
    | "tls_failed"
    | "protocol_error"
    | "invalid_response"
    | "send_failed";
  readonly message: string;
}

const FAULTS: Readonly<Record<string, SendFault>> = {
  ECONNREFUSED: { code: "connection_refused", message: "The receiver refused the connection." },
  ECONNRESET: { code: "connection_reset", message: "The connection was closed before the end of the answer." },
  EPIPE: { code: "connection_reset", message: "The connection was closed before the end of the answer." },
  EHOSTUNREACH: { code: "unreachable", message: "No route leads to the receiver." },
  ENETUNREACH: { code: "unreachable", message: "No route leads to the receiver." },
  ETIMEDOUT: { code: "timeout", message: "The connection timed out." },
  [SLOW_CONNECT]: { code: "timeout", message: "The connection and its TLS handshake took longer than 10 s." },
  [WRONG_PEER]: { code: "target_not_allowed", message: "The connection led to another address than the one checked." },
  [HEAD_OVERFLOW]: { code: "invalid_response", message: "The header of the answer is larger than 16 KB." },
  [PROTOCOL_SWITCHED]: { code: "protocol_error", message: "The receiver answered 101, which nobody asked for." },
  [TOO_MANY_INFORMATIONAL]: {
    code: "protocol_error",
    message: "The receiver sent more than 16 informational answers before its own.",
  },
};

const CERTIFICATE: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "it has expired",
  CERT_NOT_YET_VALID: "it is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "it is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "its root is not trusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its issuer is not trusted, or an intermediate certificate is missing",
  UNABLE_TO_GET_ISSUER_CERT: "its issuer is not trusted, or an intermediate certificate is missing",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its issuer is not trusted, or an intermediate certificate is missing",
  CERT_SIGNATURE_FAILURE: "its signature is wrong",
  CERT_REVOKED: "it was revoked",
  CERT_UNTRUSTED: "its root is not trusted",
  CA_MD_TOO_WEAK: "its signature is too weak",
  EE_KEY_TOO_SMALL: "its key is too small",
  ERR_TLS_CERT_ALTNAME_INVALID: "it is for another name",
};

/** Describes the error of a request. */
export function describeFault(error: unknown): SendFault {
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  const known = FAULTS[code];
  if (known !== undefined) return known;
  const reason = CERTIFICATE[code];
  if (reason !== undefined) {
    return { code: "tls_certificate", message: `The receiver's certificate is not trusted: ${reason}.` };
  }
  if (code === "EPROTO" || code.startsWith("ERR_SSL_") || code.startsWith("ERR_TLS_")) {
    return { code: "tls_failed", message: "The TLS handshake with the receiver failed." };
  }
  if (code.startsWith("HPE_")) return { code: "invalid_response", message: "The answer is not valid HTTP." };
  return { code: "send_failed", message: "The request could not be sent." };
}
