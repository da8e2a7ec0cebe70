import { MAX_QUOTED, type ServerReport, type SmtpDraft } from "#probe-agent/analysis/mail/smtp/draft.ts";
import { finding } from "#probe-agent/analysis/text/findings.ts";
import { certificateFindings, daneFindings, startTlsFindings } from "#probe-agent/analysis/mail/smtp/tls-findings.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";

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
