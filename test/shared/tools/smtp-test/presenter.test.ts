import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { smtpTest } from "#shared/tools/smtp-test/contract.ts";

/** Makes a finding of the tool with a severity. */
function found(id: string, severity: "critical" | "warning") {
  return { id, severity, message: id, how: null, reference: null, where: null };
}

describe("the presentation of smtp-test", () => {
  it("says whether the server is ready and encrypts, with the steps as bars", () => {
    const shown = presentExample(smtpTest);
    expect(shown).toMatchObject({
      verdict: "good",
      headline: "mail.shop.test is ready for mail, with TLS 1.3 and a trusted certificate",
    });
    expect(shown.series[0]?.bars.map(({ label }) => label)).toEqual([
      "TCP connection",
      "Greeting",
      "EHLO",
      "TLS",
      "EHLO under TLS",
    ]);
  });

  it("says first that the server refuses mail, breaks off, or sends no greeting", () => {
    const refusing = presentExample(smtpTest, ({ banner }) => ({
      banner: { ...banner, code: 554, text: "No service" },
      findings: [found("server-refuses", "critical")],
    }));
    expect(refusing).toMatchObject({ verdict: "bad", headline: "mail.shop.test refuses mail: 554 No service" });
    const cut = presentExample(smtpTest, () => ({ ehlo: null, ehlo_tls: null }));
    expect(cut).toMatchObject({ verdict: "bad", headline: "mail.shop.test greets, then gives no answer to EHLO" });
    const silent = presentExample(smtpTest, () => ({ banner: null, ehlo: null, ehlo_tls: null, port: 465 }));
    expect(silent).toMatchObject({ verdict: "bad", headline: "mail.shop.test port 465 sends no greeting" });
    expect(factOf(silent, "Greeting")).toBe("none");
  });

  it("tells missing, failing and untrusted encryption apart", () => {
    const tls = { offered: false, success: null, code: null, text: null, tls: null };
    const bare = presentExample(smtpTest, ({ starttls }) => ({
      starttls: { ...starttls, ...tls },
      findings: [found("starttls-missing", "warning")],
    }));
    expect(bare).toMatchObject({
      verdict: "warning",
      headline: "mail.shop.test is ready for mail, but only without encryption",
    });
    const failure = { reason: "timeout", message: "no answer in 5 s" };
    const failing = presentExample(smtpTest, ({ starttls }) => ({
      starttls: { ...starttls, success: false, failure },
    }));
    expect(failing.headline).toBe("mail.shop.test is ready for mail, but encryption fails");
    expect(factOf(failing, "Encryption")).toBe("fails: no answer in 5 s");
    const untrusted = presentExample(smtpTest, ({ starttls }) => ({
      starttls: { ...starttls, tls: { ...starttls.tls, trusted: false, error: "expired", errors: ["expired"] } },
    }));
    expect(untrusted.headline).toBe(
      "mail.shop.test is ready for mail, but its certificate is not trusted: it has expired",
    );
  });

  it("says that passwords can be read, and that DANE keeps mail away", () => {
    const open = presentExample(smtpTest, () => ({ auth_before_tls: true, auth_mechanisms: ["PLAIN"] }));
    expect(open.headline).toBe("mail.shop.test offers login without encryption: passwords can be read");
    expect(factOf(open, "Login")).toBe("PLAIN");
    const mismatch = presentExample(smtpTest, ({ dane }) => ({ dane: { ...dane, valid: false } }));
    expect(mismatch.headline).toBe(
      "Senders that use DANE deliver no mail to mail.shop.test: no TLSA record matches its certificate",
    );
    expect(factOf(mismatch, "DANE")).toBe("the certificate does not match");
  });
});
