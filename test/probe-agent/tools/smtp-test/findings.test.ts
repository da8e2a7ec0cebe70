import { describe, expect, it } from "vitest";
import { SMTP_ADVICE } from "#probe-agent/tools/smtp-test/advice.ts";
import { adviseOn } from "#probe-agent/analysis/text/findings.ts";
import type { ServerReport } from "#probe-agent/tools/smtp-test/draft.ts";
import { smtpFindings } from "#probe-agent/tools/smtp-test/findings.ts";

const EHLO = { code: 250, greeting: "mx.test", hostname: "mx.test", extensions: {}, faults: [] };
const TLS = {
  protocol: "TLSv1.3",
  certificate: { days_left: 60, spki_sha256: "ab12" },
  error: null,
  errors: [],
};
const GOOD = {
  banner: { code: 220, text: "mx.test ESMTP", hostname: "mx.test", faults: [] },
  ehlo: EHLO,
  ehlo_tls: EHLO,
  helo_only: false,
  implicit_tls: false,
  auth_before_tls: false,
  starttls: {
    offered: true,
    success: true,
    code: 220,
    text: "go",
    failure: null,
    plaintext_after_reply: null,
    tls: TLS,
  },
  dane: null,
  ptr: "mx.test",
  has_ptr: true,
  fcrdns: true,
  ptr_match: true,
  timings_ms: { banner: 5 },
};
const DANE = { status: "secure", records: [{ usable: true }], valid: true };

function findingsOf(changes: object) {
  const report = { ...GOOD, ...changes } as unknown as ServerReport;
  const drafts = smtpFindings(report, { port: 25, host: "mx.test" });
  return adviseOn(SMTP_ADVICE, drafts, { host: "mx.test", port: 25, spkiSha256: "ab12" });
}

describe("findings on a mail server", () => {
  it("are none for a good one", () => {
    expect(findingsOf({})).toEqual([]);
  });

  const starttls = (changes: object) => ({ starttls: { ...GOOD.starttls, ...changes } });
  const tls = (changes: object) => starttls({ tls: { ...TLS, ...changes } });
  const CLOSED = { reason: "closed", message: "closed" };
  const FORCED = { ...starttls({ success: false }), dane: DANE };

  it.each<[changes: object, id: string, severity: string, words: RegExp]>([
    [
      { banner: { ...GOOD.banner, code: 554 } },
      "server-refuses",
      "critical",
      /^The server refuses clients: 554.*=> .*log/,
    ],
    [{ helo_only: true }, "ehlo-refused", "critical", /EHLO is refused.*=> .*accept EHLO/],
    [{ timings_ms: { banner: 12_000 } }, "greeting-slow", "warning", /=> .*Shorten/],
    [
      starttls({ plaintext_after_reply: { bytes: 34, text: "x" } }),
      "plaintext-after-starttls",
      "critical",
      /34 octets of clear text.*=> .*discard/,
    ],
    [starttls({ success: false, failure: CLOSED }), "tls-fails", "warning", /The TLS handshake failed.*=> .*TLS 1\.2/],
    [starttls({ success: false, code: 454 }), "starttls-refused", "warning", /=> .*stop announcing/],
    [
      starttls({ offered: false, success: null, tls: null }),
      "starttls-missing",
      "warning",
      /^STARTTLS is not offered: incoming mail is not encrypted\..*=> .*smtpd_tls_security_level/,
    ],
    [
      { auth_before_tls: true },
      "auth-without-tls",
      "critical",
      /^AUTH is offered without TLS: passwords can be read in transit\..*=> .*smtpd_tls_auth_only/,
    ],
    [{ ehlo_tls: { ...EHLO, extensions: { STARTTLS: "" } } }, "starttls-repeated", "info", /=> .*Update/],
    [
      tls({ error: "expired", errors: ["expired"] }),
      "certificate-not-trusted",
      "warning",
      /The certificate is not valid for mx\.test.*=> .*certificate for mx\.test/,
    ],
    [tls({ protocol: "TLSv1" }), "tls-obsolete", "warning", /obsolete \(RFC 8996\).*=> .*TLSv1\.2/],
    [tls({ certificate: { days_left: 3 } }), "certificate-expires-soon", "warning", /=> .*Renew/],
    [{ dane: { ...DANE, status: "bogus" } }, "tlsa-bogus", "critical", /=> .*_25\._tcp\.mx\.test/],
    [
      FORCED,
      "tlsa-without-tls",
      "critical",
      /TLS is not available: senders that use DANE deliver no mail.*=> .*_25\._tcp\.mx\.test/,
    ],
    [
      { dane: { ...DANE, valid: false } },
      "tlsa-mismatch",
      "critical",
      /^No TLSA record matches the certificate: senders that use DANE.*=> .*_25\._tcp\.mx\.test: "3 1 1 ab12"/,
    ],
    [{ dane: { ...DANE, records: [] } }, "tlsa-unusable", "info", /none has usage 2 or 3.*=> .*3 1 1 ab12/],
    [
      { has_ptr: false },
      "no-reverse-name",
      "warning",
      /has no reverse name \(PTR\).*=> .*PTR record that names mx\.test/,
    ],
    [{ fcrdns: false }, "reverse-name-mismatch", "warning", /=> .*PTR record that names mx\.test/],
    [{ ptr_match: false }, "reverse-name-differs", "info", /=> .*myhostname/],
    [
      { ehlo: { ...EHLO, hostname: "b.test" } },
      "names-differ",
      "info",
      /^The greeting and the reply to EHLO have different names: mx\.test, b\.test\..*=> .*one name/,
    ],
    [{ banner: { ...GOOD.banner, hostname: null } }, "greeting-without-name", "info", /=> .*220 mx\.test ESMTP/],
    [{ ehlo: { ...EHLO, faults: ["long_line"] } }, "reply-malformed", "info", /=> .*512 octets/],
  ])("%#: %o is %s", (changes, id, severity, words) => {
    const found = findingsOf(changes).filter((finding) => finding.id === id);
    expect(found).toMatchObject([{ severity }]);
    expect(found.map(({ message, how }) => `${message} => ${how}`).join()).toMatch(words);
  });
});
