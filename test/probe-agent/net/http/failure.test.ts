import { describe, expect, it } from "vitest";
import { connectFailure, DeadlineError, exchangeFailure, tlsFailure } from "#probe-agent/net/http/failure.ts";
import { failureOf } from "#test/support/http-engine.ts";

describe("the reason of a failure", () => {
  it.each([
    ["ECONNREFUSED", false, "connect/target/refused"],
    ["ETIMEDOUT", false, "connect/target/timeout"],
    ["EHOSTUNREACH", false, "connect/target/unreachable"],
    ["ENETUNREACH", false, "connect/target/unreachable"],
    ["ENETUNREACH", true, "connect/probe/unreachable"],
    ["EMFILE", true, "connect/probe/local_error"],
    ["EACCES", true, "connect/probe/local_error"],
    ["EADDRNOTAVAIL", true, "connect/probe/local_error"],
  ])("of connecting: %s (immediate: %s) is %s", (code, isImmediate, expected) => {
    expect(failureOf(connectFailure({ code }, "192.0.2.1:80", isImmediate))).toBe(expected);
  });

  it.each([
    ["ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION", "protocol_version"],
    ["ERR_SSL_UNSUPPORTED_PROTOCOL", "protocol_version"],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "not_tls"],
    ["ERR_SSL_TLSV1_UNRECOGNIZED_NAME", "unrecognized_name"],
    ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "certificate_required"],
    ["ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE", "handshake_failure"],
    ["ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR", "internal_error"],
    ["ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL", "no_application_protocol"],
    ["EPROTO", "handshake"],
    ["DEADLINE", "timeout"],
  ])("of TLS: %s is %s, also after the handshake", (code, reason) => {
    expect(failureOf(tlsFailure({ code }, "a.example"))).toBe(`tls/target/${reason}`);
    if (!code.startsWith("ERR_SSL")) return;
    expect(failureOf(exchangeFailure({ code }, "response", "a.example"))).toBe(`tls/target/${reason}`);
  });

  it("of an exchange has the stage at which it failed", () => {
    expect(failureOf(exchangeFailure(new DeadlineError(), "request", "a"))).toBe("request/target/timeout");
    expect(failureOf(exchangeFailure({ code: "EPIPE" }, "request", "a"))).toBe("request/target/reset");
    expect(failureOf(exchangeFailure({ code: "ECONNRESET" }, "response", "a"))).toBe("response/target/reset");
  });
});
