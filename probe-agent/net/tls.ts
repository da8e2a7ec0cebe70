import type { Clock } from "#shared/clock.ts";
import type { Egress } from "#shared/egress.ts";
import { failed, ok, refused, type Failed, type Outcome } from "#shared/outcome.ts";
import type { JobLimits } from "#probe-agent/net/limits.ts";
import type { TlsObservation, TlsPort, TlsRequest } from "#probe-agent/net/port/tls.ts";
import { connectTcp } from "#probe-agent/net/tls/connect.ts";
import { readFlight } from "#probe-agent/net/tls/flight.ts";
import { failureReason, type Reason } from "#probe-agent/net/tls/reasons.ts";
import { fromPem, trustedRoots } from "#probe-agent/net/tls/roots.ts";
import { handshake, type Session } from "#probe-agent/net/tls/session.ts";

/** What the TLS port needs of its process. */
export interface TlsDependencies {
  readonly clock: Clock;
  readonly egress: Egress;
  /** PEM texts of the roots to trust in the place of Node's own. */
  readonly roots?: readonly string[];
}

const DEFAULT_TIMEOUT_MS = 10_000;

/**
 * Builds the TLS port. Failures of `inspect`: stage connect with refused, timeout, unreachable, reset, prohibited,
 * connection_failed (source probe: local_error, cancelled); stage tls with timeout, plain_text, not_tls, reset, closed,
 * an alert's name (handshake_failure, protocol_version, unrecognized_name, ...) or OpenSSL's reason. The same words
 * stand in an observation's `error` where the certificate had come.
 */
export function createTls(dependencies: TlsDependencies): (job: JobLimits) => TlsPort {
  const { clock, egress } = dependencies;
  const given = dependencies.roots?.map(fromPem);
  return (job) => ({
    inspect: (request) => inspect(request, job, clock, egress),
    roots: () => given ?? trustedRoots(),
  });
}

async function inspect(
  request: TlsRequest,
  job: JobLimits,
  clock: Clock,
  egress: Egress,
): Promise<Outcome<TlsObservation>> {
  if (!egress.allowsAddress(request.ip)) return refused;
  const started = clock.monotonic();
  const budget = Math.min(request.timeoutMs ?? DEFAULT_TIMEOUT_MS, job.deadline - started);
  const ended = (): Reason => endReason(job, clock);
  if (budget <= 0) return aborted("connect", ended());
  const signal = AbortSignal.any([job.signal, AbortSignal.timeout(Math.ceil(budget))]);
  const socket = await connectTcp(request.ip, request.port, signal);
  if (socket === "aborted") return aborted("connect", ended());
  if ("status" in socket) return socket;
  const connected = clock.monotonic();
  if (socket.remoteAddress !== undefined && !egress.allowsAddress(socket.remoteAddress)) {
    socket.destroy();
    return refused;
  }
  const session = await handshake(socket, request, {
    signal,
    monotonic: () => clock.monotonic(),
    waitsForRefusal: (received, secret) => readFlight(received, secret).clientCertificateRequested,
  });
  return observation(session, ended, { started, connected });
}

function observation(
  session: Session,
  ended: () => Reason,
  at: { readonly started: number; readonly connected: number },
): Outcome<TlsObservation> {
  const flight = readFlight(session.received, session.secret);
  const stood = session.agreed !== null && session.error === null;
  const reason = stood
    ? null
    : session.aborted
      ? ended()
      : failureReason({ ...session, fatalAlert: flight.fatalAlert });
  if (flight.certificates.length === 0) {
    const why = reason ?? { reason: "no_certificate", message: "The server sent no certificate" };
    return session.aborted ? aborted("tls", why) : failed("tls", "target", why.reason, why.message);
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

/** Why the signal ended things: the caller's cancel (which comes before the deadline), or time. */
function endReason(job: JobLimits, clock: Clock): Reason {
  const cancelled = job.signal.aborted && clock.monotonic() < job.deadline - 5;
  if (cancelled) return { reason: "cancelled", message: "The check was cancelled" };
  return { reason: "timeout", message: "The server did not answer in time" };
}

function aborted(stage: "connect" | "tls", why: Reason): Failed {
  return failed(stage, why.reason === "cancelled" ? "probe" : "target", why.reason, why.message);
}
