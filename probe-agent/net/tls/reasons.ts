import { kindOfAnswer } from "#probe-agent/net/tls/records.ts";

/** Cause of a failed handshake: a stable snake_case code and a sentence. */
export interface Reason {
  readonly reason: string;
  readonly message: string;
}

/** The facts of a failed handshake. */
interface FailureFacts {
  readonly error: NodeJS.ErrnoException | null;
  readonly received: Uint8Array;
  /** Description octet of a fatal alert read from the wire. */
  readonly fatalAlert: number | null;
  readonly ending: "open" | "closed" | "reset";
}

/** Alert names by number (IANA, TLS Alerts registry). */
const ALERTS: Readonly<Record<number, string>> = {
  0: "close_notify",
  10: "unexpected_message",
  20: "bad_record_mac",
  21: "decryption_failed",
  22: "record_overflow",
  30: "decompression_failure",
  40: "handshake_failure",
  41: "no_certificate",
  42: "bad_certificate",
  43: "unsupported_certificate",
  44: "certificate_revoked",
  45: "certificate_expired",
  46: "certificate_unknown",
  47: "illegal_parameter",
  48: "unknown_ca",
  49: "access_denied",
  50: "decode_error",
  51: "decrypt_error",
  60: "export_restriction",
  70: "protocol_version",
  71: "insufficient_security",
  80: "internal_error",
  86: "inappropriate_fallback",
  90: "user_canceled",
  100: "no_renegotiation",
  109: "missing_extension",
  110: "unsupported_extension",
  111: "certificate_unobtainable",
  112: "unrecognized_name",
  113: "bad_certificate_status_response",
  114: "bad_certificate_hash_value",
  115: "unknown_psk_identity",
  116: "certificate_required",
  120: "no_application_protocol",
  121: "ech_required",
};

/**
 * Returns the cause of a failed handshake. The code is an alert's registry name; `plain_text` or `not_tls` for an
 * answer that is not TLS; `reset`; OpenSSL's reason in snake_case (e.g. `unsupported_protocol`); else `closed`.
 */
export function failureReason(facts: FailureFacts): Reason {
  const answer = kindOfAnswer(facts.received);
  if (answer === "text") {
    return { reason: "plain_text", message: `The server answered in plain text: ${quoteStart(facts.received)}` };
  }
  if (answer === "other") return { reason: "not_tls", message: "The server's answer is not TLS" };
  const alert = facts.fatalAlert ?? alertNumber(facts.error);
  if (alert !== null) {
    const word = ALERTS[alert] ?? `alert_${alert}`;
    return { reason: word, message: `The server ended the handshake with the alert ${word} (${alert})` };
  }
  if (facts.ending === "reset")
    return { reason: "reset", message: "The server reset the connection during the handshake" };
  const local = localReason(facts.error);
  if (local) return local;
  return { reason: "closed", message: "The server closed the connection during the handshake" };
}

/** Returns the alert number in OpenSSL's error message; null if the error was not caused by an alert. */
function alertNumber(error: NodeJS.ErrnoException | null): number | null {
  const found = /SSL alert number (\d{1,3})/.exec(error?.message ?? "");
  return found ? Number(found[1]) : null;
}

function localReason(error: NodeJS.ErrnoException | null): Reason | null {
  const code = error?.code ?? "";
  if (!code.startsWith("ERR_SSL_")) return null;
  const word = code
    .slice("ERR_SSL_".length)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_");
  return { reason: word, message: `The handshake failed: ${word.replaceAll("_", " ")}` };
}

function quoteStart(received: Uint8Array): string {
  const [line = ""] = Buffer.from(received.subarray(0, 80))
    .toString("latin1")
    .split(/[\r\n]/);
  return JSON.stringify(line);
}
