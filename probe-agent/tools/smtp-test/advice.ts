import type { AdviceTable } from "#probe-agent/analysis/text/findings.ts";

/** Kinds of findings on a mail server. */
export type SmtpFindingId =
  | "server-refuses"
  | "ehlo-refused"
  | "greeting-slow"
  | "plaintext-after-starttls"
  | "tls-fails"
  | "starttls-refused"
  | "starttls-missing"
  | "auth-without-tls"
  | "starttls-repeated"
  | "certificate-not-trusted"
  | "tls-obsolete"
  | "certificate-expires-soon"
  | "tlsa-bogus"
  | "tlsa-without-tls"
  | "tlsa-mismatch"
  | "tlsa-unusable"
  | "no-reverse-name"
  | "reverse-name-mismatch"
  | "reverse-name-differs"
  | "names-differ"
  | "greeting-without-name"
  | "reply-malformed";

/** Facts about the tested server that the advice uses. */
interface SmtpContext {
  readonly host: string;
  readonly port: number;
  /** SHA-256 of the certificate's public key, hexadecimal; null without a certificate. */
  readonly spkiSha256: string | null;
}

const SMTP = "https://www.rfc-editor.org/rfc/rfc5321";
const STARTTLS = "https://www.rfc-editor.org/rfc/rfc3207";
const DANE = "https://www.rfc-editor.org/rfc/rfc7672";
const OFFER =
  "Configure a certificate and offer STARTTLS, e.g. Postfix: smtpd_tls_security_level = may, smtpd_tls_chain_files = <key and chain>.";

/**
 * Severity and advice for each kind. An invalid certificate is only a warning: senders encrypt if they can and deliver
 * mail regardless of the certificate.
 */
export const SMTP_ADVICE: AdviceTable<SmtpFindingId, SmtpContext> = {
  "server-refuses": {
    severity: "critical",
    how: "Check the server's log for the reason (load, a block list, a stopped service): it accepts no mail from this address.",
    reference: `${SMTP}#section-3.1`,
  },
  "ehlo-refused": {
    severity: "critical",
    how: "Configure the server, or the firewall in front of it, to accept EHLO.",
    reference: `${SMTP}#section-4.1.1.1`,
  },
  "greeting-slow": {
    severity: "warning",
    how: "Shorten the delay before the greeting to a few seconds.",
    reference: `${SMTP}#section-4.5.3.2`,
  },
  "plaintext-after-starttls": {
    severity: "critical",
    how: "Update the mail server or the proxy in front of it: it must discard buffered clear text when TLS begins.",
    reference: `${STARTTLS}#section-4.2`,
  },
  "tls-fails": {
    severity: "warning",
    how: "Check the server's log for the TLS error, and its key, certificate and protocols (TLS 1.2 and 1.3).",
    reference: `${STARTTLS}#section-4`,
  },
  "starttls-refused": {
    severity: "warning",
    how: "Fix the server's TLS configuration (it announces STARTTLS without a usable key), or stop announcing STARTTLS.",
    reference: `${STARTTLS}#section-4`,
  },
  "starttls-missing": { severity: "warning", how: OFFER, reference: STARTTLS },
  "auth-without-tls": {
    severity: "critical",
    how: "Offer AUTH only under TLS, e.g. Postfix: smtpd_tls_auth_only = yes.",
    reference: "https://www.rfc-editor.org/rfc/rfc8314#section-4.1",
  },
  "starttls-repeated": {
    severity: "info",
    how: "Update the mail server: it must not announce STARTTLS under TLS.",
    reference: `${STARTTLS}#section-4.2`,
  },
  "certificate-not-trusted": {
    severity: "warning",
    how: ({ host }) =>
      `Install a certificate for ${host} from a public CA, with its intermediates, and renew it in time.`,
    reference: "https://www.rfc-editor.org/rfc/rfc8461#section-4.2",
  },
  "tls-obsolete": {
    severity: "warning",
    how: "Enable TLS 1.2 and 1.3, e.g. Postfix: smtpd_tls_protocols = >=TLSv1.2.",
    reference: "https://www.rfc-editor.org/rfc/rfc8996",
  },
  "certificate-expires-soon": {
    severity: "warning",
    how: ({ host }) => `Renew the certificate of ${host} and reload the mail server.`,
    reference: null,
  },
  "tlsa-bogus": {
    severity: "critical",
    how: ({ host, port }) => `Repair DNSSEC of the zone with _${port}._tcp.${host}, or remove the TLSA records.`,
    reference: `${DANE}#section-2.2`,
  },
  "tlsa-without-tls": {
    severity: "critical",
    how: ({ host, port }) => `Offer STARTTLS, or remove the TLSA records at _${port}._tcp.${host}.`,
    reference: `${DANE}#section-2.2`,
  },
  "tlsa-mismatch": { severity: "critical", how: publishTlsa, reference: `${DANE}#section-3.1` },
  "tlsa-unusable": { severity: "info", how: publishTlsa, reference: `${DANE}#section-3.1` },
  "no-reverse-name": {
    severity: "warning",
    how: ({ host }) => `Ask the operator of the address (the hosting provider) for a PTR record that names ${host}.`,
    reference: "https://support.google.com/a/answer/81126",
  },
  "reverse-name-mismatch": {
    severity: "warning",
    how: ({ host }) =>
      `Ask the operator of the address for a PTR record that names ${host}, or publish the address at the name in the PTR record.`,
    reference: "https://support.google.com/a/answer/81126",
  },
  "reverse-name-differs": {
    severity: "info",
    how: "Configure the reverse name of the address as the server's own name, e.g. Postfix: myhostname.",
    reference: `${SMTP}#section-4.1.4`,
  },
  "names-differ": {
    severity: "info",
    how: "Configure the server to use one name in its greeting and in its reply to EHLO.",
    reference: `${SMTP}#section-4.2`,
  },
  "greeting-without-name": {
    severity: "info",
    how: ({ host }) => `Configure the greeting to begin with the server's name: 220 ${host} ESMTP`,
    reference: `${SMTP}#section-4.2`,
  },
  "reply-malformed": {
    severity: "info",
    how: "Configure the server to end lines with CRLF, to keep them below 512 octets of ASCII and to use one code for all lines of a reply.",
    reference: `${SMTP}#section-4.2`,
  },
};

function publishTlsa({ host, port, spkiSha256 }: SmtpContext): string {
  const data = spkiSha256 ?? "<SHA-256 of the certificate's public key, hexadecimal>";
  return `Publish this TLSA record at _${port}._tcp.${host}: "3 1 1 ${data}"; change it before the key changes.`;
}
