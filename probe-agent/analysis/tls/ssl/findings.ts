import type { ResultOf } from "#shared/tools/define.ts";
import type { ssl } from "#shared/tools/ssl.ts";
import { daysLeft, lifetimeMs } from "#probe-agent/analysis/tls/certificate/describe.ts";
import { isWeakSignature } from "#probe-agent/analysis/tls/certificate/keys.ts";
import type { OcspVerdict } from "#probe-agent/analysis/tls/certificate/ocsp/judge.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { isExpired, remainingMs } from "#probe-agent/analysis/tls/certificate/validity.ts";
import { configurationWarnings } from "#probe-agent/analysis/tls/ssl/configuration-warnings.ts";
import { formWarnings } from "#probe-agent/analysis/tls/ssl/form-warnings.ts";
import { pathWarnings, type PathFacts } from "#probe-agent/analysis/tls/ssl/path-warnings.ts";
import type { Configuration, HstsSeen } from "#probe-agent/analysis/tls/ssl/configuration.ts";
import type { ChainReport } from "#probe-agent/analysis/tls/ssl/chain.ts";

type Result = ResultOf<typeof ssl>;
/** One entry of the tool's warnings. */
export type Warning = Result["warnings"][number];

/** What the warnings are drawn from. */
export interface WarningFacts extends PathFacts {
  readonly chain: ChainReport;
  /** The path ends in a root that is trusted. */
  readonly anchored: boolean;
  readonly configuration: Configuration;
  readonly hsts: HstsSeen;
  readonly mustStaple: boolean;
  readonly stapled: boolean;
  /** Judged; null where nothing was stapled or nobody is known to judge it by. */
  readonly staple: OcspVerdict | null;
  /** Signed certificate timestamps that are not what they say. */
  readonly badTimestamps: number;
  readonly dane: Result["dane"];
  readonly clientCertificateRequested: boolean;
}

const DAY_MS = 86_400_000;
/** The longest a public certificate may be valid, days, by when it was issued (CA/Browser Forum ballots SC-22, SC-31, SC-81). */
const LIFETIMES: readonly (readonly [issuedFrom: string, days: number])[] = [
  ["2029-03-15", 47],
  ["2027-03-15", 100],
  ["2026-03-15", 200],
  ["2020-09-01", 398],
  ["2018-03-01", 825],
];
const FIRST_LIFETIME_DAYS = 1_187; // 39 months
const SEVERITIES = ["critical", "warning", "info"] as const;

/** What deserves attention without deciding trust, the most urgent first. */
export function sslWarnings(facts: WarningFacts): Warning[] {
  const configured = configurationWarnings(facts.configuration, facts.hsts);
  const chained = [...chainWarnings(facts), ...formWarnings(facts), ...pathWarnings(facts)];
  const all = [...expiry(facts), ...configured, ...chained, ...extras(facts)];
  return SEVERITIES.flatMap((severity) => all.filter((entry) => entry.severity === severity));
}

/** Days a public certificate that was issued then may be valid. */
export function longestLifetimeDays(issued: Date): number {
  return LIFETIMES.find(([from]) => issued.getTime() >= Date.parse(from))?.[1] ?? FIRST_LIFETIME_DAYS;
}

/** How near the end is, by lifetime: critical within min(7 days, a tenth of it), warning within min(30 days, a third). */
export function expirySeverity(certificate: Certificate, now: Date): "critical" | "warning" | null {
  const left = remainingMs(certificate, now);
  const lifetime = lifetimeMs(certificate);
  if (left < 0) return null;
  if (left <= Math.min(7 * DAY_MS, lifetime / 10)) return "critical";
  return left <= Math.min(30 * DAY_MS, lifetime / 3) ? "warning" : null;
}

function expiry({ leaf, path, now }: WarningFacts): Warning[] {
  const severity = expirySeverity(leaf, now);
  const longest = longestLifetimeDays(leaf.notBefore);
  const own = `The certificate expires in ${days(leaf, now)}.`;
  const others = path.slice(1).filter((certificate) => daysLeft(certificate, now) < 30 && !isExpired(certificate, now));
  const [first] = others.toSorted((a, b) => a.notAfter.getTime() - b.notAfter.getTime());
  return [
    ...(severity ? [{ id: "expires_soon", severity, message: own }] : []),
    ...(first ? [warning("chain_expires_soon", `A certificate above it expires in ${days(first, now)}.`)] : []),
    ...(lifetimeMs(leaf) > (longest + 1) * DAY_MS
      ? [info("long_lifetime", `When it was issued, public certificates might be valid for ${longest} days at most.`)]
      : []),
  ];
}

function days(certificate: Certificate, now: Date): string {
  const left = daysLeft(certificate, now);
  return left === 1 ? "1 day" : `${left} days`;
}

function chainWarnings({ sent, path, chain }: WarningFacts): Warning[] {
  const weak = [...new Set([...sent, ...path.slice(0, -1)])].some(
    (certificate) =>
      certificate !== null &&
      isWeakSignature(certificate) &&
      Buffer.compare(certificate.subject, certificate.issuer) !== 0,
  );
  return [
    ...(weak ? [warning("weak_signature", "A certificate of the chain is signed with SHA-1 or an older hash.")] : []),
    ...(chain.misplaced ? [warning("chain_order", "The chain is not sent in order; some clients fail on that.")] : []),
    ...(chain.extra.length > 0
      ? [info("extra_certificate", `Certificates that are no use are sent, at ${chain.extra.join(", ")}.`)]
      : []),
    ...(chain.containsRoot ? [info("root_sent", "The root is sent along; clients have it and ignore it.")] : []),
  ];
}

function extras({ clientCertificateRequested, badTimestamps, dane, ...status }: WarningFacts): Warning[] {
  const mismatch =
    dane?.dnssec === "bogus"
      ? "The TLSA records fail DNSSEC validation; clients that know DANE refuse the server."
      : "No TLSA record fits the server's certificates; clients that know DANE refuse the server.";
  return [
    ...stapleWarnings(status),
    ...(badTimestamps > 0
      ? [
          warning(
            "bad_sct",
            "Signed certificate timestamps are not their log's for this certificate, or of the future.",
          ),
        ]
      : []),
    ...(dane?.valid === false ? [warning("dane_mismatch", mismatch)] : []),
    ...(clientCertificateRequested
      ? [info("client_certificate", "The server asks for a client certificate; the check has none to show.")]
      : []),
  ];
}

/** A staple that is missing, has run out or is good for nothing; graver where the certificate insists on one. */
function stapleWarnings({
  mustStaple,
  stapled,
  staple,
}: Pick<WarningFacts, "mustStaple" | "stapled" | "staple">): Warning[] {
  const severity = mustStaple ? "critical" : "warning";
  const insists = mustStaple
    ? "The certificate insists on one: clients that obey it fail."
    : "Clients pass over it or fail.";
  if (!stapled) {
    const message =
      "The certificate asks for a stapled OCSP response and the server sends none; clients that obey it fail.";
    return mustStaple ? [{ id: "no_staple", severity, message }] : [];
  }
  if (staple === null || (staple.error === null && staple.status !== "unknown")) return [];
  if (staple.error === "stale") {
    return [{ id: "stale_staple", severity, message: `The stapled OCSP response has run out. ${insists}` }];
  }
  const why = (staple.error ?? "status unknown").replaceAll("_", " ");
  return [{ id: "bad_staple", severity, message: `The stapled OCSP response is no good (${why}). ${insists}` }];
}

function warning(id: string, message: string): Warning {
  return { id, severity: "warning", message };
}

function info(id: string, message: string): Warning {
  return { id, severity: "info", message };
}
