import type { Clock } from "#shared/time/clock.ts";
import { failed, ok, type Failed, type Outcome } from "#shared/contracts/outcome.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import type { TlsObservation } from "#probe-agent/port/tls.ts";
import { readFlight } from "#probe-agent/net/tls/flight.ts";
import { failureReason, type Reason } from "#probe-agent/net/tls/reasons.ts";
import type { Session } from "#probe-agent/net/tls/session.ts";

/**
 * Converts a handshake to the result of TlsPort. `ended` returns the cause if the handshake was aborted. Times are
 * monotonic, in milliseconds.
 */
export function observe(
  session: Session,
  ended: () => Reason,
  at: { readonly started: number; readonly connected: number },
): Outcome<TlsObservation> {
  const flight = readFlight(session.received, session.secret);
  const completed = session.agreed !== null && session.error === null;
  const reason = completed
    ? null
    : session.aborted
      ? ended()
      : failureReason({ ...session, fatalAlert: flight.fatalAlert });
  if (flight.certificates.length === 0) {
    const why = reason ?? { reason: "no_certificate", message: "The server sent no certificate" };
    return session.aborted ? endedEarly("tls", why) : failed("tls", "target", why.reason, why.message);
  }
  return ok({
    protocol: session.agreed?.protocol ?? null,
    cipher: session.agreed?.cipher ?? null,
    alpn: session.agreed?.alpn ?? null,
    serverVersion: flight.version,
    sent: flight.certificates,
    ocspStaple: flight.ocspStaple,
    clientCertificateRequested: flight.clientCertificateRequested,
    error: reason,
    connectMs: at.connected - at.started,
    handshakeMs: session.completedAt === null ? null : session.completedAt - at.connected,
  });
}

/** Returns why the signal fired: the caller cancelled before the deadline, or the time limit was reached. */
export function endReason(job: JobLimits, clock: Clock): Reason {
  const cancelled = job.signal.aborted && clock.monotonic() < job.deadline - 5;
  if (cancelled) return { reason: "cancelled", message: "The check was cancelled" };
  return { reason: "timeout", message: "The server did not answer in time" };
}

/** Returns the failure of a stage that the signal ended. */
export function endedEarly(stage: "connect" | "tls", why: Reason): Failed {
  return failed(stage, why.reason === "cancelled" ? "probe" : "target", why.reason, why.message);
}
