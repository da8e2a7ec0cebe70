import type { ResultOf } from "#shared/tools/define.ts";
import type { smtpTest } from "#shared/tools/smtp-test.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";

type Result = ResultOf<typeof smtpTest>;

/** What issues are found in. */
export type Examined = Omit<
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
  | "issues"
>;

/** Longer greetings make impatient senders give up. */
const SLOW_BANNER_MS = 10_000;
const OLD_TLS = new Set(["TLSv1", "TLSv1.1", "SSLv3"]);
const SOON_DAYS = 14;
const SUBMISSION = 587;
const MAX_QUOTED = 200;

/** What is wrong or could be better, the gravest first. */
export function smtpIssues(
  report: Examined,
  { port, host }: { readonly port: number; readonly host: string },
): string[] {
  return [
    ...refusals(report),
    ...startTls(report, port),
    ...certificate(report, host),
    ...dane(report),
    ...names(report),
    ...form(report),
  ];
}

function refusals({ banner, ehlo, helo_only: heloOnly, timings_ms: { banner: waited } }: Examined): string[] {
  return [
    ...(banner !== null && banner.code !== 220
      ? [`The server turns clients away: ${banner.code} ${printable(banner.text, MAX_QUOTED)}`]
      : []),
    ...(heloOnly ? ["EHLO is refused: no extension, not even TLS, can be used."] : []),
    ...(ehlo !== null && ehlo.code !== 250 && !heloOnly ? [`EHLO is refused: ${ehlo.code} ${ehlo.greeting}`] : []),
    ...(waited !== null && waited > SLOW_BANNER_MS
      ? [`The greeting took ${Math.round(waited / 1000)} s: some senders will not wait that long.`]
      : []),
  ];
}

function startTls(
  { starttls, implicit_tls: implicit, auth_before_tls: auth, ehlo_tls: again }: Examined,
  port: number,
): string[] {
  const { offered, success, code, text, failure, plaintext_after_reply: plaintext } = starttls;
  return [
    ...(plaintext === null
      ? []
      : [
          `${plaintext.bytes} octets came in the clear after the answer to STARTTLS: they could be taken for said under TLS.`,
        ]),
    ...(failure === null ? [] : [`TLS fails: ${failure.message}`]),
    ...(success === false && code !== null && code !== 220
      ? [`STARTTLS is offered and then refused: ${code} ${printable(text ?? "", MAX_QUOTED)}`.trimEnd()]
      : []),
    ...(!implicit && offered === false ? ["STARTTLS is not offered: mail comes in unencrypted."] : []),
    ...(auth === true && port !== SUBMISSION ? ["AUTH is offered without TLS: passwords can be read on the way."] : []),
    ...(auth === true && port === SUBMISSION
      ? ["AUTH is offered before STARTTLS: clients may send passwords in the clear (RFC 8314 section 4.1)."]
      : []),
    ...("STARTTLS" in (again?.extensions ?? {}) ? ["STARTTLS is offered again under TLS (RFC 3207 section 4.2)."] : []),
  ];
}

function certificate({ starttls: { tls } }: Examined, host: string): string[] {
  if (tls === null) return [];
  const left = tls.certificate?.days_left ?? null;
  return [
    ...(tls.error === null ? [] : [`The certificate is not good for ${host}: ${tls.errors.join(", ")}.`]),
    ...(OLD_TLS.has(tls.protocol ?? "")
      ? [`${tls.protocol ?? ""} is all that was agreed on: it is obsolete (RFC 8996).`]
      : []),
    ...(left !== null && left >= 0 && left < SOON_DAYS ? [`The certificate expires in ${left} days.`] : []),
  ];
}

/** RFC 7672 section 2.2: senders that know DANE deliver only under TLS that its records confirm. */
function dane({ dane: found, starttls, implicit_tls: implicit }: Examined): string[] {
  const isSecure = found?.status === "secure";
  return [
    ...(found?.status === "bogus"
      ? ["The TLSA records fail DNSSEC validation: senders that know DANE deliver nothing."]
      : []),
    ...(isSecure && !implicit && starttls.success !== true
      ? ["TLSA records are published, but TLS cannot be had: senders that know DANE deliver nothing."]
      : []),
    ...(isSecure && found.valid === false
      ? ["No TLSA record matches the certificate: senders that know DANE deliver nothing."]
      : []),
    ...(isSecure && !found.records.some(({ usable }) => usable)
      ? ["TLSA records are published, but none that mail goes by (usage 2 or 3, RFC 7672 section 3.1)."]
      : []),
  ];
}

function names({ banner, ehlo, ptr, has_ptr: named, fcrdns, ptr_match: matches }: Examined): string[] {
  const said = [banner?.hostname ?? null, ehlo?.hostname ?? null].filter((name) => name !== null);
  return [
    ...(named === false
      ? ["The address has no reverse name (PTR): many receivers refuse mail that such a server sends."]
      : []),
    ...(fcrdns === false ? [`The reverse name ${ptr ?? ""} does not lead back to the address.`] : []),
    ...(matches === false
      ? [`The reverse name ${ptr ?? ""} is not what the server calls itself (${said.join(", ")}).`]
      : []),
    ...(new Set(said).size > 1 ? [`Greeting and answer to EHLO give different names: ${said.join(", ")}.`] : []),
    ...(banner !== null && banner.code === 220 && banner.hostname === null
      ? ["The greeting does not begin with the server's name (RFC 5321 section 4.2)."]
      : []),
  ];
}

function form({ banner, ehlo, ehlo_tls: again }: Examined): string[] {
  const faults = new Set([...(banner?.faults ?? []), ...(ehlo?.faults ?? []), ...(again?.faults ?? [])]);
  return faults.size === 0 ? [] : [`Replies are not of the form RFC 5321 asks for: ${[...faults].join(", ")}.`];
}
