import { existing, fact, table } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import type { Verdict } from "#shared/presentation/presentation.ts";
import { trustReason } from "#shared/presentation/trust-reason.ts";
import { date, distance } from "#shared/presentation/values.ts";
import { verdictOf, verdictOfGrade, worst } from "#shared/presentation/verdict.ts";
import { listFirst } from "#shared/text/list.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { ssl as contract } from "#shared/tools/ssl/contract.ts";

type Ssl = ResultOf<typeof contract>;

/** Days before the end of a certificate from which its date is marked; the longest notice of monitors. */
const SOON_DAYS = 30;
const MOST_NAMES = 5;

const PROTOCOLS = {
  tls1_3: "TLS 1.3",
  tls1_2: "TLS 1.2",
  tls1_1: "TLS 1.1",
  tls1_0: "TLS 1.0",
  ssl3: "SSL 3",
} as const;
/** Versions that RFC 8996 and RFC 7568 forbid. */
const FORBIDDEN: ReadonlySet<string> = new Set(["TLS 1.1", "TLS 1.0", "SSL 3"]);

/** ssl: grade, trust and end of the certificate first, then chain, protocols and cipher suites. */
export const ssl = definePresenter(contract, (data, now) => {
  const { certificate, grade, trusted, protocols, ciphers, findings } = data;
  const offered = Object.entries(PROTOCOLS).filter(([name]) => protocols[name as keyof typeof protocols] === true);
  const old = offered.filter(([, version]) => FORBIDDEN.has(version));
  return {
    verdict: trusted ? worst([grade === null ? "neutral" : verdictOfGrade(grade), verdictOf(findings)]) : "bad",
    headline: headlineOf(data, now),
    facts: existing(
      fact("Grade", grade, { tone: grade === null ? null : verdictOfGrade(grade) }),
      fact("Trusted", trusted ? "yes" : `no: ${trustReason(data.trust_error)}`, { tone: trusted ? "good" : "bad" }),
      fact("Valid until", date(certificate.not_after, now), { tone: toneOfEnd(certificate.days_left) }),
      fact("Issuer", certificate.issuer_organization ?? certificate.issuer_common_name ?? certificate.issuer),
      fact("Names", listFirst(certificate.san, MOST_NAMES, certificate.san_total)),
      fact("Name matches", data.hostname_match ? null : `no: the certificate does not name ${data.host}`, {
        tone: "bad",
      }),
      fact("Protocols", offered.map(([, version]) => version).join(", "), { tone: old.length > 0 ? "warning" : null }),
      fact("Negotiated", existing(data.protocol, data.cipher, data.alpn).join(", ")),
      fact("Key", describeKey(certificate.key)),
      fact("Revocation", data.revocation.status === "unknown" ? null : data.revocation.status, {
        tone: data.revocation.status === "revoked" ? "bad" : "good",
      }),
      fact("Handshake", data.handshake_error?.message, { tone: "bad" }),
      fact("Address", data.ip === data.host ? null : data.ip),
    ),
    tables: existing(
      table(
        "Chain",
        ["Certificate", "Role", "Key", "Valid until", "#Days left", "Note"],
        data.chain.map((row) => ({
          cells: [
            row.common_name ?? row.subject,
            row.role,
            describeKey(row.key),
            row.not_after.slice(0, 10),
            daysUntil(row.not_after, now),
            row.sent ? null : "not sent",
          ],
          tone: toneOfEnd(row.days_left),
        })),
      ),
      table(
        "Grade limits",
        ["Grade", "Reason"],
        data.grade_caps.map((cap) => [cap.grade, cap.reason]),
      ),
      table(
        "Cipher suites",
        ["Protocol", "Suite", "#Bits", "Strength"],
        (ciphers ?? []).map(({ protocol, iana_name: name, bits, strength }) => ({
          cells: [protocol, name, bits, strength],
          tone: strength === "broken" ? "bad" : strength === "weak" ? "warning" : null,
        })),
      ),
    ),
  };
});

function headlineOf(data: Ssl, now: Date): string {
  const { host, certificate, trusted, grade } = data;
  const away = distance(certificate.not_after, now) ?? certificate.not_after;
  if (!trusted && data.trust_error === "expired") return `The certificate of ${host} expired ${away}`;
  if (!trusted) return `The certificate of ${host} is not trusted: ${trustReason(data.trust_error)}`;
  return `${host}: ${grade === null ? "" : `grade ${grade}, `}trusted, ends ${away}`;
}

function toneOfEnd(daysLeft: number): Verdict | null {
  if (daysLeft < 0) return "bad";
  return daysLeft <= SOON_DAYS ? "warning" : null;
}

function describeKey({ type, bits, curve }: Ssl["certificate"]["key"]): string {
  return existing(type, curve ?? (bits === null ? null : `${bits} bits`)).join(" ");
}

function daysUntil(iso: string, now: Date): number | null {
  const days = Math.floor((Date.parse(iso) - now.getTime()) / 86_400_000);
  return Number.isNaN(days) ? null : days;
}
