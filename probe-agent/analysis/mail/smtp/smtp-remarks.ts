import type { ResultOf } from "#shared/tools/define.ts";
import type { smtpTest } from "#shared/tools/smtp-test.ts";
import type { SmtpFindingId } from "#probe-agent/analysis/mail/smtp/findings.ts";
import type { Remark } from "#probe-agent/analysis/mail/remarks.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";

type Result = ResultOf<typeof smtpTest>;

/** One remark on a mail server. `where` is the field of the result. */
type SmtpRemark = Remark<SmtpFindingId>;

function remark(id: SmtpFindingId, where: string, message: string): SmtpRemark {
  return { id, where, message };
}

/** Report on a server without findings, which the remarks are made from. */
export type ServerReport = Omit<
  Result,
  | "target"
  | "mx_used"
  | "mx_records"
  | "attempts"
  | "ip"
  | "ip_version"
  | "port"
  | "source"
  | "observed_at"
  | "elapsed_ms"
  | "limitations"
  | "findings"
>;

/** Longest wait for the greeting without a remark, in milliseconds. Some senders give up after a longer wait. */
const SLOW_BANNER_MS = 10_000;
const OLD_TLS = new Set(["TLSv1", "TLSv1.1", "SSLv3"]);
const SOON_DAYS = 14;
const SUBMISSION = 587;
const MAX_QUOTED = 200;

/** Finds faults and possible improvements of a mail server. */
export function remarkOnSmtp(
  report: ServerReport,
  { port, host }: { readonly port: number; readonly host: string },
): SmtpRemark[] {
  return [
    ...remarkOnRefusals(report),
    ...remarkOnStartTls(report, port),
    ...remarkOnCertificate(report, host),
    ...remarkOnDane(report),
    ...remarkOnNames(report),
    ...remarkOnForm(report),
  ];
}

function remarkOnRefusals({
  banner,
  ehlo,
  helo_only: heloOnly,
  timings_ms: { banner: waited },
}: ServerReport): SmtpRemark[] {
  return [
    ...(banner !== null && banner.code !== 220
      ? [
          remark(
            "server-refuses",
            "banner",
            `The server refuses clients: ${banner.code} ${printable(banner.text, MAX_QUOTED)}`,
          ),
        ]
      : []),
    ...(heloOnly
      ? [remark("ehlo-refused", "ehlo", "EHLO is refused, so no extension can be used, including STARTTLS.")]
      : []),
    ...(ehlo !== null && ehlo.code !== 250 && !heloOnly
      ? [remark("ehlo-refused", "ehlo", `EHLO is refused: ${ehlo.code} ${ehlo.greeting}`)]
      : []),
    ...(waited !== null && waited > SLOW_BANNER_MS
      ? [
          remark(
            "greeting-slow",
            "banner",
            `The greeting took ${Math.round(waited / 1000)} s: some senders do not wait that long.`,
          ),
        ]
      : []),
  ];
}

function remarkOnStartTls(
  { starttls, implicit_tls: implicit, auth_before_tls: auth, ehlo_tls: again }: ServerReport,
  port: number,
): SmtpRemark[] {
  const { offered, success, code, text, failure, plaintext_after_reply: plaintext } = starttls;
  return [
    ...(plaintext === null
      ? []
      : [
          remark(
            "plaintext-after-starttls",
            "starttls",
            `The server sent ${plaintext.bytes} octets of clear text after its reply to STARTTLS: a client can mistake them for part of the TLS session.`,
          ),
        ]),
    ...(failure === null ? [] : [remark("tls-fails", "starttls", `The TLS handshake failed: ${failure.message}`)]),
    ...(success === false && code !== null && code !== 220
      ? [
          remark(
            "starttls-refused",
            "starttls",
            `STARTTLS is offered and then refused: ${code} ${printable(text ?? "", MAX_QUOTED)}`.trimEnd(),
          ),
        ]
      : []),
    ...(!implicit && offered === false
      ? [remark("starttls-missing", "starttls", "STARTTLS is not offered: incoming mail is not encrypted.")]
      : []),
    ...(auth === true && port !== SUBMISSION
      ? [remark("auth-without-tls", "ehlo", "AUTH is offered without TLS: passwords can be read in transit.")]
      : []),
    ...(auth === true && port === SUBMISSION
      ? [
          remark(
            "auth-without-tls",
            "ehlo",
            "AUTH is offered before STARTTLS: clients may send passwords in the clear (RFC 8314 section 4.1).",
          ),
        ]
      : []),
    ...("STARTTLS" in (again?.extensions ?? {})
      ? [remark("starttls-repeated", "ehlo_tls", "STARTTLS is offered again under TLS (RFC 3207 section 4.2).")]
      : []),
  ];
}

function remarkOnCertificate({ starttls: { tls } }: ServerReport, host: string): SmtpRemark[] {
  if (tls === null) return [];
  const left = tls.certificate?.days_left ?? null;
  return [
    ...(tls.error === null
      ? []
      : [
          remark(
            "certificate-not-trusted",
            "starttls.tls",
            `The certificate is not valid for ${host}: ${tls.errors.join(", ")}.`,
          ),
        ]),
    ...(OLD_TLS.has(tls.protocol ?? "")
      ? [
          remark(
            "tls-obsolete",
            "starttls.tls",
            `The session uses ${tls.protocol ?? ""}, which is obsolete (RFC 8996).`,
          ),
        ]
      : []),
    ...(left !== null && left >= 0 && left < SOON_DAYS
      ? [remark("certificate-expires-soon", "starttls.tls", `The certificate expires in ${left} days.`)]
      : []),
  ];
}

/** Finds faults of DANE. Senders that use DANE deliver only under TLS that DANE confirms (RFC 7672 section 2.2). */
function remarkOnDane({ dane: found, starttls, implicit_tls: implicit }: ServerReport): SmtpRemark[] {
  const isSecure = found?.status === "secure";
  return [
    ...(found?.status === "bogus"
      ? [
          remark(
            "tlsa-bogus",
            "dane",
            "The TLSA records fail DNSSEC validation: senders that use DANE deliver no mail.",
          ),
        ]
      : []),
    ...(isSecure && !implicit && starttls.success !== true
      ? [
          remark(
            "tlsa-without-tls",
            "dane",
            "TLSA records are published, but TLS is not available: senders that use DANE deliver no mail.",
          ),
        ]
      : []),
    ...(isSecure && found.valid === false
      ? [
          remark(
            "tlsa-mismatch",
            "dane",
            "No TLSA record matches the certificate: senders that use DANE deliver no mail.",
          ),
        ]
      : []),
    ...(isSecure && !found.records.some(({ usable }) => usable)
      ? [
          remark(
            "tlsa-unusable",
            "dane",
            "TLSA records are published, but none has usage 2 or 3, the only usages that mail servers accept.",
          ),
        ]
      : []),
  ];
}

function remarkOnNames({ banner, ehlo, ptr, has_ptr: named, fcrdns, ptr_match: matches }: ServerReport): SmtpRemark[] {
  const ownNames = [banner?.hostname ?? null, ehlo?.hostname ?? null].filter((name) => name !== null);
  return [
    ...(named === false
      ? [
          remark(
            "no-reverse-name",
            "ptr",
            "The address has no reverse name (PTR): many receivers refuse mail that such a server sends.",
          ),
        ]
      : []),
    ...(fcrdns === false
      ? [remark("reverse-name-mismatch", "ptr", `The reverse name ${ptr ?? ""} does not resolve to the address.`)]
      : []),
    ...(matches === false
      ? [
          remark(
            "reverse-name-differs",
            "ptr",
            `The reverse name ${ptr ?? ""} differs from the server's own name (${ownNames.join(", ")}).`,
          ),
        ]
      : []),
    ...(new Set(ownNames).size > 1
      ? [
          remark(
            "names-differ",
            "banner",
            `The greeting and the reply to EHLO have different names: ${ownNames.join(", ")}.`,
          ),
        ]
      : []),
    ...(banner !== null && banner.code === 220 && banner.hostname === null
      ? [
          remark(
            "greeting-without-name",
            "banner",
            "The greeting does not begin with the server's name (RFC 5321 section 4.2).",
          ),
        ]
      : []),
  ];
}

function remarkOnForm({ banner, ehlo, ehlo_tls: again }: ServerReport): SmtpRemark[] {
  const faults = new Set([...(banner?.faults ?? []), ...(ehlo?.faults ?? []), ...(again?.faults ?? [])]);
  return faults.size === 0
    ? []
    : [remark("reply-malformed", "banner", `Replies do not conform to RFC 5321: ${[...faults].join(", ")}.`)];
}
