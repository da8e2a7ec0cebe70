import type { ResultOf } from "#shared/tools/define.ts";
import type { smtpTest } from "#shared/tools/smtp-test.ts";
import { verifyServerChain } from "#probe-agent/analysis/tls/certificate/server.ts";
import { describeCertificate } from "#probe-agent/analysis/tls/certificate/describe.ts";
import { parseCertificate, type Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { toMicroseconds } from "#probe-agent/analysis/network/statistics.ts";
import type { TlsObservation } from "#probe-agent/port/tls.ts";

/** A TLS session in a result. */
type SmtpTlsReport = NonNullable<ResultOf<typeof smtpTest>["starttls"]["tls"]>;

/** Name, roots and time that a certificate is verified with. */
export interface TlsTrust {
  /** The name connected to, or an address literal. */
  readonly host: string;
  readonly roots: readonly Uint8Array[];
  readonly now: Date;
}

const MAX_SAN = 50;

/** Describes a session and whether a sender that enforces MTA-STS accepts its certificate (RFC 8461 section 4.2). */
export function describeSmtpTls(observation: TlsObservation, { host, roots, now }: TlsTrust): SmtpTlsReport {
  const [leaf, ...others] = observation.sent;
  const certificate = leaf === undefined ? null : parseCertificate(leaf);
  const verification = leaf === undefined ? null : verifyServerChain({ leaf, intermediates: others, roots, host, now });
  const errors = verification?.errors ?? ["malformed"];
  return {
    protocol: observation.protocol,
    cipher: observation.cipher,
    certificate: certificate === null ? null : certificateRow(certificate, now),
    chain_length: observation.sent.length,
    hostname_match: verification?.hostname_match ?? false,
    trusted: errors.length === 0,
    error: errors[0] ?? null,
    errors,
    client_certificate_requested: observation.clientCertificateRequested,
    handshake_ms: observation.handshakeMs === null ? null : toMicroseconds(observation.handshakeMs),
  };
}

function certificateRow(leaf: Certificate, now: Date): NonNullable<SmtpTlsReport["certificate"]> {
  const shown = describeCertificate(leaf, now);
  return {
    subject: shown.subject,
    issuer: shown.issuer,
    san: shown.san.slice(0, MAX_SAN),
    not_before: shown.not_before,
    not_after: shown.not_after,
    days_left: shown.days_left,
    key_type: shown.key.type,
    key_bits: shown.key.bits,
    signature_algorithm: shown.signature_algorithm,
    fingerprint_sha256: shown.fingerprint_sha256,
    spki_sha256: shown.spki_sha256,
    self_signed: shown.self_signed,
  };
}
