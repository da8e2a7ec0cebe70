import { describe, expect, it } from "vitest";
import { SMTP_ADVICE } from "#probe-agent/tools/smtp-test/advice.ts";
import { adviseOn } from "#probe-agent/analysis/text/findings.ts";
import type { ServerReport } from "#probe-agent/tools/smtp-test/draft.ts";
import { smtpFindings } from "#probe-agent/tools/smtp-test/findings.ts";

const EHLO = { code: 250, greeting: "mx.example.com", hostname: "mx.example.com", extensions: {}, faults: [] };
const TLS = {
  protocol: "TLSv1.3",
  certificate: { days_left: 60, spki_sha256: "ab12" },
  error: null,
  errors: [],
};
const GOOD = {
  banner: { code: 220, text: "mx.example.com ESMTP", hostname: "mx.example.com", faults: [] },
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
  ptr: "mx.example.com",
  has_ptr: true,
  fcrdns: true,
  ptr_match: true,
  timings_ms: { banner: 5 },
};
const DANE = { status: "secure", records: [{ usable: true }], valid: true };

function findingsOf(changes: object, port = 25) {
  const report = { ...GOOD, ...changes } as unknown as ServerReport;
  const drafts = smtpFindings(report, { port, host: "mx.example.com" });
  return adviseOn(SMTP_ADVICE, drafts, { host: "mx.example.com", port, spkiSha256: "ab12" });
}

describe("findings on a mail server", () => {
  it("are none for a good one", () => {
    expect(findingsOf({})).toEqual([]);
  });

  it.each([
    [{ banner: { ...GOOD.banner, code: 554 } }, "server-refuses", "critical", "log"],
    [{ helo_only: true }, "ehlo-refused", "critical", "accept EHLO"],
    [{ timings_ms: { banner: 12_000 } }, "greeting-slow", "warning", "Shorten"],
    [
      { starttls: { ...GOOD.starttls, plaintext_after_reply: { bytes: 3, text: "x" } } },
      "plaintext-after-starttls",
      "critical",
      "discard",
    ],
    [
      { starttls: { ...GOOD.starttls, success: false, failure: { reason: "closed", message: "closed" } } },
      "tls-fails",
      "warning",
      "TLS 1.2",
    ],
    [{ starttls: { ...GOOD.starttls, success: false, code: 454 } }, "starttls-refused", "warning", "stop announcing"],
    [
      { starttls: { ...GOOD.starttls, offered: false, success: null, tls: null } },
      "starttls-missing",
      "warning",
      "smtpd_tls_security_level",
    ],
    [{ auth_before_tls: true }, "auth-without-tls", "critical", "smtpd_tls_auth_only"],
    [{ ehlo_tls: { ...EHLO, extensions: { STARTTLS: "" } } }, "starttls-repeated", "info", "Update"],
    [
      { starttls: { ...GOOD.starttls, tls: { ...TLS, error: "expired", errors: ["expired"] } } },
      "certificate-not-trusted",
      "warning",
      "certificate for mx.example.com",
    ],
    [{ starttls: { ...GOOD.starttls, tls: { ...TLS, protocol: "TLSv1" } } }, "tls-obsolete", "warning", "TLSv1.2"],
    [
      { starttls: { ...GOOD.starttls, tls: { ...TLS, certificate: { days_left: 3 } } } },
      "certificate-expires-soon",
      "warning",
      "Renew",
    ],
    [{ dane: { ...DANE, status: "bogus" } }, "tlsa-bogus", "critical", "_25._tcp.mx.example.com"],
    [
      { dane: DANE, starttls: { ...GOOD.starttls, success: false } },
      "tlsa-without-tls",
      "critical",
      "_25._tcp.mx.example.com",
    ],
    [{ dane: { ...DANE, valid: false } }, "tlsa-mismatch", "critical", '_25._tcp.mx.example.com: "3 1 1 ab12"'],
    [{ dane: { ...DANE, records: [] } }, "tlsa-unusable", "info", "3 1 1 ab12"],
    [{ has_ptr: false }, "no-reverse-name", "warning", "PTR record that names mx.example.com"],
    [{ fcrdns: false }, "reverse-name-mismatch", "warning", "PTR record that names mx.example.com"],
    [{ ptr_match: false }, "reverse-name-differs", "info", "myhostname"],
    [{ ehlo: { ...EHLO, hostname: "b.example.com" } }, "names-differ", "info", "one name"],
    [{ banner: { ...GOOD.banner, hostname: null } }, "greeting-without-name", "info", "220 mx.example.com ESMTP"],
    [{ ehlo: { ...EHLO, faults: ["long_line"] } }, "reply-malformed", "info", "512 octets"],
  ])("%#: %o is %s", (changes, id, severity, how) => {
    const found = findingsOf(changes).filter((finding) => finding.id === id);
    expect(found).toMatchObject([{ severity, how: expect.stringContaining(how) as string }]);
  });
});
