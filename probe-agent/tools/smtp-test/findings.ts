import { MAX_QUOTED, type ServerReport, type SmtpDraft } from "#probe-agent/tools/smtp-test/draft.ts";
import { finding } from "#probe-agent/analysis/text/findings.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { smtpTest } from "#shared/tools/smtp-test/contract.ts";
import { verifyServerChain } from "#probe-agent/analysis/tls/certificate/server.ts";
import { describeCertificate } from "#probe-agent/analysis/tls/certificate/describe.ts";
import { parseCertificate, type Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { toMicroseconds } from "#probe-agent/analysis/network/statistics.ts";
import type { TlsObservation } from "#probe-agent/port/tls.ts";

/** Longest wait for the greeting without a finding, in milliseconds. Some senders give up after a longer wait. */
const SLOW_BANNER_MS = 10_000;

/** Finds faults and possible improvements of a mail server. */
export function smtpFindings(
  report: ServerReport,
  { port, host }: { readonly port: number; readonly host: string },
): SmtpDraft[] {
  return [
    ...refusalFindings(report),
    ...startTlsFindings(report, port),
    ...certificateFindings(report, host),
    ...daneFindings(report),
    ...namesFindings(report),
    ...formFindings(report),
  ];
}

function refusalFindings({
  banner,
  ehlo,
  helo_only: heloOnly,
  timings_ms: { banner: waited },
}: ServerReport): SmtpDraft[] {
  return [
    ...(banner !== null && banner.code !== 220
      ? [
          finding(
            "server-refuses",
            "banner",
            `The server refuses clients: ${banner.code} ${printable(banner.text, MAX_QUOTED)}`,
          ),
        ]
      : []),
    ...(heloOnly
      ? [finding("ehlo-refused", "ehlo", "EHLO is refused, so no extension can be used, including STARTTLS.")]
      : []),
    ...(ehlo !== null && ehlo.code !== 250 && !heloOnly
      ? [finding("ehlo-refused", "ehlo", `EHLO is refused: ${ehlo.code} ${ehlo.greeting}`)]
      : []),
    ...(waited !== null && waited > SLOW_BANNER_MS
      ? [
          finding(
            "greeting-slow",
            "banner",
            `The greeting took ${Math.round(waited / 1000)} s: some senders do not wait that long.`,
          ),
        ]
      : []),
  ];
}

function namesFindings({ banner, ehlo, ptr, has_ptr: named, fcrdns, ptr_match: matches }: ServerReport): SmtpDraft[] {
  const ownNames = [banner?.hostname ?? null, ehlo?.hostname ?? null].filter((name) => name !== null);
  return [
    ...(named === false
      ? [
          finding(
            "no-reverse-name",
            "ptr",
            "The address has no reverse name (PTR): many receivers refuse mail that such a server sends.",
          ),
        ]
      : []),
    ...(fcrdns === false
      ? [finding("reverse-name-mismatch", "ptr", `The reverse name ${ptr ?? ""} does not resolve to the address.`)]
      : []),
    ...(matches === false
      ? [
          finding(
            "reverse-name-differs",
            "ptr",
            `The reverse name ${ptr ?? ""} differs from the server's own name (${ownNames.join(", ")}).`,
          ),
        ]
      : []),
    ...(new Set(ownNames).size > 1
      ? [
          finding(
            "names-differ",
            "banner",
            `The greeting and the reply to EHLO have different names: ${ownNames.join(", ")}.`,
          ),
        ]
      : []),
    ...(banner !== null && banner.code === 220 && banner.hostname === null
      ? [
          finding(
            "greeting-without-name",
            "banner",
            "The greeting does not begin with the server's name (RFC 5321 section 4.2).",
          ),
        ]
      : []),
  ];
}

function formFindings({ banner, ehlo, ehlo_tls: again }: ServerReport): SmtpDraft[] {
  const faults = new Set([...(banner?.faults ?? []), ...(ehlo?.faults ?? []), ...(again?.faults ?? [])]);
  return faults.size === 0
    ? []
    : [finding("reply-malformed", "banner", `Replies do not conform to RFC 5321: ${[...faults].join(", ")}.`)];
}

const OLD_TLS = new Set(["TLSv1", "TLSv1.1", "SSLv3"]);
const SOON_DAYS = 14;
const SUBMISSION = 587;

/** Finds faults of STARTTLS: missing, refused, failing, or credentials accepted without it. */
function startTlsFindings(
  { starttls, implicit_tls: implicit, auth_before_tls: auth, ehlo_tls: again }: ServerReport,
  port: number,
): SmtpDraft[] {
  const { offered, success, code, text, failure, plaintext_after_reply: plaintext } = starttls;
  return [
    ...(plaintext === null
      ? []
      : [
          finding(
            "plaintext-after-starttls",
            "starttls",
            `The server sent ${plaintext.bytes} octets of clear text after its reply to STARTTLS: a client can mistake them for part of the TLS session.`,
          ),
        ]),
    ...(failure === null ? [] : [finding("tls-fails", "starttls", `The TLS handshake failed: ${failure.message}`)]),
    ...(success === false && code !== null && code !== 220
      ? [
          finding(
            "starttls-refused",
            "starttls",
            `STARTTLS is offered and then refused: ${code} ${printable(text ?? "", MAX_QUOTED)}`.trimEnd(),
          ),
        ]
      : []),
    ...(!implicit && offered === false
      ? [finding("starttls-missing", "starttls", "STARTTLS is not offered: incoming mail is not encrypted.")]
      : []),
    ...(auth === true && port !== SUBMISSION
      ? [finding("auth-without-tls", "ehlo", "AUTH is offered without TLS: passwords can be read in transit.")]
      : []),
    ...(auth === true && port === SUBMISSION
      ? [
          finding(
            "auth-without-tls",
            "ehlo",
            "AUTH is offered before STARTTLS: clients may send passwords in the clear (RFC 8314 section 4.1).",
          ),
        ]
      : []),
    ...("STARTTLS" in (again?.extensions ?? {})
      ? [finding("starttls-repeated", "ehlo_tls", "STARTTLS is offered again under TLS (RFC 3207 section 4.2).")]
      : []),
  ];
}

/** Finds faults of the certificate and the TLS version. */
function certificateFindings({ starttls: { tls } }: ServerReport, host: string): SmtpDraft[] {
  if (tls === null) return [];
  const left = tls.certificate?.days_left ?? null;
  return [
    ...(tls.error === null
      ? []
      : [
          finding(
            "certificate-not-trusted",
            "starttls.tls",
            `The certificate is not valid for ${host}: ${tls.errors.join(", ")}.`,
          ),
        ]),
    ...(OLD_TLS.has(tls.protocol ?? "")
      ? [
          finding(
            "tls-obsolete",
            "starttls.tls",
            `The session uses ${tls.protocol ?? ""}, which is obsolete (RFC 8996).`,
          ),
        ]
      : []),
    ...(left !== null && left >= 0 && left < SOON_DAYS
      ? [finding("certificate-expires-soon", "starttls.tls", `The certificate expires in ${left} days.`)]
      : []),
  ];
}

/** Finds faults of DANE. Senders that use DANE deliver only under TLS that DANE confirms (RFC 7672 section 2.2). */
function daneFindings({ dane: found, starttls, implicit_tls: implicit }: ServerReport): SmtpDraft[] {
  const isSecure = found?.status === "secure";
  return [
    ...(found?.status === "bogus"
      ? [
          finding(
            "tlsa-bogus",
            "dane",
            "The TLSA records fail DNSSEC validation: senders that use DANE deliver no mail.",
          ),
        ]
      : []),
    ...(isSecure && !implicit && starttls.success !== true
      ? [
          finding(
            "tlsa-without-tls",
            "dane",
            "TLSA records are published, but TLS is not available: senders that use DANE deliver no mail.",
          ),
        ]
      : []),
    ...(isSecure && found.valid === false
      ? [
          finding(
            "tlsa-mismatch",
            "dane",
            "No TLSA record matches the certificate: senders that use DANE deliver no mail.",
          ),
        ]
      : []),
    ...(isSecure && !found.records.some(({ usable }) => usable)
      ? [
          finding(
            "tlsa-unusable",
            "dane",
            "TLSA records are published, but none has usage 2 or 3, the only usages that mail servers accept.",
          ),
        ]
      : []),
  ];
}

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
