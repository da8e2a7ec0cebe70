import { MAX_QUOTED, remark, type ServerReport, type SmtpRemark } from "#probe-agent/analysis/mail/smtp/remark.ts";
import { remarkOnCertificate, remarkOnDane, remarkOnStartTls } from "#probe-agent/analysis/mail/smtp/tls-remarks.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";

/** Longest wait for the greeting without a remark, in milliseconds. Some senders give up after a longer wait. */
const SLOW_BANNER_MS = 10_000;

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
