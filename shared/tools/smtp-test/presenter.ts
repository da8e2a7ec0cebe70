import { existing, fact, table, waterfall } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { reverseNameFact } from "#shared/presentation/reverse-name.ts";
import { trustReason } from "#shared/presentation/trust-reason.ts";
import { bytes, date, milliseconds } from "#shared/presentation/values.ts";
import { verdictOf, worst } from "#shared/presentation/verdict.ts";
import { listFirst } from "#shared/text/list.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { smtpTest as contract } from "#shared/tools/smtp-test/contract.ts";
import type { Fact, Verdict } from "#shared/presentation/presentation.ts";

type SmtpTest = ResultOf<typeof contract>;

const READY = 220;
const ACCEPTED = 250;
const STANDARD_PORT = 25;
/** Days before the end of the certificate from which its date is marked, as in the tool's findings. */
const SOON_DAYS = 14;
const MOST_NAMED = 12;

/** smtp-test: whether the server is ready for mail and encrypts it, then its name, timing and the conversation. */
export const smtpTest = definePresenter(contract, (data, now) => {
  const { banner, starttls, timings_ms: timing, attempts, mx_records: mail } = data;
  const certificate = starttls.tls?.certificate ?? null;
  const isReady = banner?.code === READY;
  return {
    verdict: worst([verdictOf(data.findings), isCutOff(data) ? "bad" : "good"]),
    headline: headlineOf(data),
    facts: existing(
      fact("Greeting", banner === null ? "none" : `${banner.code} ${banner.text}`, { tone: isReady ? null : "bad" }),
      fact("Encryption", describeTls(data), { tone: toneOfTls(data) }),
      fact("Certificate", starttls.tls === null ? null : describeTrust(starttls.tls), {
        tone: starttls.tls?.trusted === true ? "good" : "warning",
      }),
      fact("Connection", milliseconds(timing.connect), { unit: "ms" }),
      fact("Cipher", starttls.tls?.cipher),
      fact("Certificate ends", certificate === null ? null : date(certificate.not_after, now), {
        tone: certificate !== null && certificate.days_left < SOON_DAYS ? "warning" : null,
      }),
      daneFact(data.dane),
      reverseNameFact({ name: data.ptr, exists: data.has_ptr, leadsBack: data.fcrdns }),
      fact("Login", data.auth_mechanisms.length === 0 ? null : listFirst(data.auth_mechanisms, MOST_NAMED)),
      fact("Login without TLS", data.auth_before_tls === true ? "offered: passwords can be read" : null, {
        tone: "bad",
      }),
      fact("Largest message", data.size_limit_bytes === null ? null : bytes(data.size_limit_bytes)),
      fact("Software", banner?.software),
      fact("Mail host", data.mx_used === data.target ? null : data.mx_used),
      fact("Address", data.ip),
      fact("EHLO", data.helo_only ? "refused, HELO accepted" : null, { tone: "bad" }),
      fact("Extensions", listFirst(Object.keys((data.ehlo_tls ?? data.ehlo)?.extensions ?? {}), MOST_NAMED)),
    ),
    series: existing(
      waterfall("Timing", "ms", [
        ["TCP connection", timing.connect],
        ["Greeting", timing.banner],
        ["EHLO", timing.ehlo],
        ["TLS", timing.starttls],
        ["EHLO under TLS", timing.ehlo_tls],
      ]),
    ),
    tables: existing(
      table("Mail hosts", ["#Priority", "Host"], mail.length < 2 ? [] : mail.map((one) => [one.priority, one.host])),
      table(
        "Attempts",
        ["Host", "Address", "Result"],
        attempts.length < 2
          ? []
          : attempts.map(({ host, ip, result }) => ({
              cells: [host, ip, result],
              tone: result === "connected" ? null : "warning",
            })),
      ),
      table(
        "Conversation",
        ["#Time (ms)", "From", "Text"],
        data.transcript.map((line) => [milliseconds(line.at_ms), line.from, line.text]),
      ),
    ),
  };
});

function headlineOf(data: SmtpTest): string {
  const { banner, ehlo, starttls, dane } = data;
  const host = `${data.mx_used ?? data.target}${data.port === STANDARD_PORT ? "" : ` port ${data.port}`}`;
  if (banner === null)
    return `${host} sends no greeting${starttls.failure === null ? "" : `: ${starttls.failure.message}`}`;
  if (banner.code !== READY) return `${host} refuses mail: ${banner.code} ${banner.text}`;
  if (isCutOff(data)) return `${host} greets, then gives no answer to EHLO`;
  if (!data.helo_only && ehlo !== null && ehlo.code !== ACCEPTED)
    return `${host} refuses EHLO: ${ehlo.code} ${ehlo.greeting}`;
  if (dane?.status === "bogus" || dane?.valid === false)
    return `Senders that use DANE deliver no mail to ${host}: ${dane.status === "bogus" ? "its TLSA records fail validation" : "no TLSA record matches its certificate"}`;
  if (starttls.plaintext_after_reply !== null)
    return `${host} takes clear text for encrypted text: an attacker can add commands`;
  if (data.auth_before_tls === true) return `${host} offers login without encryption: passwords can be read`;
  const { tls } = starttls;
  if (!data.implicit_tls && starttls.success !== true)
    return `${host} is ready for mail, but ${starttls.offered === true ? "encryption fails" : "only without encryption"}`;
  if (tls?.error != null)
    return `${host} is ready for mail, but its certificate is not trusted: ${trustReason(tls.error)}`;
  return `${host} is ready for mail, with ${nameTls(tls?.protocol)} and a trusted certificate`;
}

/** The conversation ended before the server could say what it offers. */
function isCutOff({ banner, ehlo, ehlo_tls: again, helo_only: isOld }: SmtpTest): boolean {
  return banner === null || (banner.code === READY && ehlo === null && again === null && !isOld);
}

/** What TLSA records say that were not compared with a certificate. */
const UNCOMPARED = { secure: "signed", insecure: "not signed, so without effect", unknown: "not known" } as const;

/** Writes a version of TLS: "TLS 1.3"; "TLS" if it is not known. */
function nameTls(protocol: string | null | undefined): string {
  return protocol?.replace(/^TLSv/, "TLS ") ?? "TLS";
}

/** Says with what the server encrypts, or why it does not; null if that is not known. */
function describeTls({ starttls, implicit_tls: implicit }: SmtpTest): string | null {
  const { tls, failure, offered, code, text } = starttls;
  if (failure !== null) return `fails: ${failure.message}`;
  if (tls?.protocol != null) return `${nameTls(tls.protocol)}${implicit ? " from the start" : ""}`;
  if (offered === true) return code === null ? "offered" : `refused: ${code} ${text ?? ""}`;
  return offered === false ? "not offered" : null;
}

/** Returns how the encryption is marked; null if it was not tried. */
function toneOfTls({ starttls, implicit_tls: implicit }: SmtpTest): Verdict | null {
  if (starttls.success === true) return "good";
  return implicit || starttls.offered === null ? null : "warning";
}

/** Says whether senders that check the certificate accept it. */
function describeTrust({ trusted, error }: NonNullable<SmtpTest["starttls"]["tls"]>): string {
  return trusted ? "trusted" : `not trusted: ${trustReason(error)}`;
}

/** Says whether DANE confirms the certificate; null without TLSA records. */
function daneFact(dane: SmtpTest["dane"]): Fact | null {
  if (dane === null || dane.status === "absent") return null;
  if (dane.status === "bogus") return fact("DANE", "validation fails", { tone: "bad" });
  if (dane.valid === null) return fact("DANE", UNCOMPARED[dane.status]);
  return fact("DANE", dane.valid ? "the certificate matches" : "the certificate does not match", {
    tone: dane.valid ? "good" : "bad",
  });
}
