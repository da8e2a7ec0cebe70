import { fact } from "#shared/presentation/build.ts";
import type { Fact, Verdict } from "#shared/presentation/presentation.ts";
import { trustReason } from "#shared/presentation/tools/trust-reason.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { smtpTest } from "#shared/tools/smtp-test.ts";

type SmtpTest = ResultOf<typeof smtpTest>;

/** What TLSA records say that were not compared with a certificate. */
const UNCOMPARED = { secure: "signed", insecure: "not signed, so without effect", unknown: "not known" } as const;

/** Writes a version of TLS: "TLS 1.3"; "TLS" if it is not known. */
export function nameTls(protocol: string | null | undefined): string {
  return protocol?.replace(/^TLSv/, "TLS ") ?? "TLS";
}

/** Says with what the server encrypts, or why it does not; null if that is not known. */
export function describeTls({ starttls, implicit_tls: implicit }: SmtpTest): string | null {
  const { tls, failure, offered, code, text } = starttls;
  if (failure !== null) return `fails: ${failure.message}`;
  if (tls?.protocol != null) return `${nameTls(tls.protocol)}${implicit ? " from the start" : ""}`;
  if (offered === true) return code === null ? "offered" : `refused: ${code} ${text ?? ""}`;
  return offered === false ? "not offered" : null;
}

/** Returns how the encryption is marked; null if it was not tried. */
export function toneOfTls({ starttls, implicit_tls: implicit }: SmtpTest): Verdict | null {
  if (starttls.success === true) return "good";
  return implicit || starttls.offered === null ? null : "warning";
}

/** Says whether senders that check the certificate accept it. */
export function describeTrust({ trusted, error }: NonNullable<SmtpTest["starttls"]["tls"]>): string {
  return trusted ? "trusted" : `not trusted: ${trustReason(error)}`;
}

/** Says whether DANE confirms the certificate; null without TLSA records. */
export function daneFact(dane: SmtpTest["dane"]): Fact | null {
  if (dane === null || dane.status === "absent") return null;
  if (dane.status === "bogus") return fact("DANE", "validation fails", { tone: "bad" });
  if (dane.valid === null) return fact("DANE", UNCOMPARED[dane.status]);
  return fact("DANE", dane.valid ? "the certificate matches" : "the certificate does not match", {
    tone: dane.valid ? "good" : "bad",
  });
}
