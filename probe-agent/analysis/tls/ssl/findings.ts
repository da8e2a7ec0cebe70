import { adviseOn, finding } from "#probe-agent/analysis/text/findings.ts";
import { sortFindings, type Finding } from "#shared/contracts/findings.ts";
import { isSameOctets } from "#shared/text/same-octets.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { ssl } from "#shared/tools/ssl/contract.ts";
import { daysLeft, lifetimeMs } from "#probe-agent/analysis/tls/certificate/describe.ts";
import { isWeakSignature } from "#probe-agent/analysis/tls/certificate/keys.ts";
import type { OcspResult } from "#probe-agent/analysis/tls/certificate/ocsp-evaluate.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { isExpired } from "#probe-agent/analysis/tls/certificate/validity.ts";
import { configurationFindings } from "#probe-agent/analysis/tls/ssl/configuration-findings.ts";
import { SSL_ADVICE, type SslDraft } from "#probe-agent/analysis/tls/ssl/advice.ts";
import { formFindings } from "#probe-agent/analysis/tls/ssl/form-findings.ts";
import type { Configuration, HstsSeen } from "#probe-agent/analysis/tls/ssl/configuration.ts";
import type { ChainReport, Sent } from "#probe-agent/analysis/tls/ssl/chain.ts";
import { listAll } from "#shared/text/list.ts";
import { isSame } from "#probe-agent/analysis/tls/certificate/anchors.ts";
import { findGreedyPath, type GreedyClient } from "#probe-agent/analysis/tls/certificate/greedy-path.ts";

type Result = ResultOf<typeof ssl>;

/** Input of sslFindings. */
interface FindingFacts extends PathFacts {
  readonly chain: ChainReport;
  /** Whether the path ends in a trusted root. */
  readonly anchored: boolean;
  /** Whether a weak signature on the path already makes the certificate untrusted. */
  readonly pathIsWeak: boolean;
  readonly configuration: Configuration;
  readonly hsts: HstsSeen;
  readonly mustStaple: boolean;
  readonly stapled: boolean;
  /** Null if nothing was stapled, or the response cannot be checked because the issuer is unknown. */
  readonly staple: OcspResult | null;
  /** Number of invalid signed certificate timestamps. */
  readonly badTimestamps: number;
  readonly dane: Result["dane"];
  readonly clientCertificateRequested: boolean;
  /** Why the handshake failed after the certificate arrived; null if it completed. */
  readonly handshakeError: Result["handshake_error"];
}

const DAY_MS = 86_400_000;
/** Maximum lifetime of public certificates in days, by date of issue (CA/Browser Forum ballots SC-22, SC-31, SC-81). */
const LIFETIMES: readonly (readonly [issuedFrom: string, days: number])[] = [
  ["2029-03-15", 47],
  ["2027-03-15", 100],
  ["2026-03-15", 200],
  ["2020-09-01", 398],
  ["2018-03-01", 825],
];
const FIRST_LIFETIME_DAYS = 1_187; // 39 months

/** Returns the findings that do not decide trust, worst first. */
export function sslFindings(facts: FindingFacts): Finding[] {
  const configured = configurationFindings(facts.configuration, facts.hsts);
  const chained = [...chainFindings(facts), ...formFindings(facts), ...pathFindings(facts)];
  const all: SslDraft[] = [
    ...handshakeFindings(facts),
    ...expiryFindings(facts),
    ...configured,
    ...chained,
    ...extensionFindings(facts),
  ];
  return sortFindings(adviseOn(SSL_ADVICE, all, null));
}

/**
 * Reports a failed handshake. If the server requests a client certificate, a failure without one is expected: ordinary
 * visitors fail too, as the server intends.
 */
function handshakeFindings({ handshakeError, clientCertificateRequested }: FindingFacts): SslDraft[] {
  if (handshakeError === null || clientCertificateRequested) return [];
  const message = `The handshake failed after the certificate was received: ${handshakeError.message}.`;
  return [finding("handshake-failed", null, message)];
}

/** Returns the maximum lifetime, in days, of a public certificate by its date of issue. */
export function longestLifetimeDays(issued: Date): number {
  return LIFETIMES.find(([from]) => issued.getTime() >= Date.parse(from))?.[1] ?? FIRST_LIFETIME_DAYS;
}

/** How soon a certificate expires. */
type ExpiryStage = "expired" | "urgent" | "due" | "far";

/**
 * Returns the stage from whole days left and lifetime in days: urgent at 7 days or a tenth of the lifetime, whichever
 * is less; due at 30 days or a third of the lifetime, whichever is less. The health tool uses the same stages.
 */
export function expiryStage(left: number, lifetimeDays: number): ExpiryStage {
  if (left < 0) return "expired";
  if (left <= Math.min(7, lifetimeDays / 10)) return "urgent";
  return left <= Math.min(30, lifetimeDays / 3) ? "due" : "far";
}

function expiryFindings({ leaf, path, now }: FindingFacts): SslDraft[] {
  const stage = expiryStage(daysLeft(leaf, now), lifetimeMs(leaf) / DAY_MS);
  const longest = longestLifetimeDays(leaf.notBefore);
  const lifetime = Math.round(lifetimeMs(leaf) / DAY_MS);
  const own = `The certificate expires in ${days(leaf, now)}, on ${leaf.notAfter.toISOString().slice(0, 10)}.`;
  const others = path.slice(1).filter((certificate) => daysLeft(certificate, now) < 30 && !isExpired(certificate, now));
  const [first] = others.toSorted((a, b) => a.notAfter.getTime() - b.notAfter.getTime());
  return [
    ...(stage === "urgent" || stage === "due" ? [finding("expires-soon", null, own)] : []),
    ...(first
      ? [finding("chain-expires-soon", null, `A certificate above the server's expires in ${days(first, now)}.`)]
      : []),
    ...(lifetimeMs(leaf) > (longest + 1) * DAY_MS
      ? [
          finding(
            "long-lifetime",
            null,
            `The certificate is valid for ${lifetime} days; public certificates of its date are limited to ${longest} days.`,
          ),
        ]
      : []),
  ];
}

function days(certificate: Certificate, now: Date): string {
  const left = daysLeft(certificate, now);
  return left === 1 ? "1 day" : `${left} days`;
}

function chainFindings({ sent, path, chain, pathIsWeak }: FindingFacts): SslDraft[] {
  const weak = [...new Set([...sent, ...path.slice(0, -1)])].some(
    (certificate) =>
      certificate !== null && isWeakSignature(certificate) && !isSameOctets(certificate.subject, certificate.issuer),
  );
  return [
    ...(weak && !pathIsWeak
      ? [finding("weak-signature-sent", null, "A certificate of the chain is signed with SHA-1 or an older hash.")]
      : []),
    ...(chain.misplaced
      ? [finding("chain-order", null, "The chain is sent out of order; some clients refuse it.")]
      : []),
    ...(chain.extra.length > 0
      ? [
          finding(
            "extra-certificate",
            null,
            `The server sends certificates that are not part of the chain, at positions ${chain.extra.join(", ")}.`,
          ),
        ]
      : []),
    ...(chain.containsRoot
      ? [
          finding(
            "root-sent",
            null,
            "The server sends the root certificate; clients have their own copy and ignore it.",
          ),
        ]
      : []),
  ];
}

/** Findings on OCSP stapling, certificate transparency, DANE and client certificates. */
function extensionFindings({ clientCertificateRequested, badTimestamps, dane, ...status }: FindingFacts): SslDraft[] {
  const mismatch =
    dane?.dnssec === "bogus"
      ? "The TLSA records fail DNSSEC validation; clients that use DANE refuse the server."
      : "No TLSA record matches the server's certificates; clients that use DANE refuse the server.";
  return [
    ...stapleFindings(status),
    ...(badTimestamps > 0
      ? [
          finding(
            "bad-sct",
            null,
            `${badTimestamps} signed certificate ${badTimestamps === 1 ? "timestamp is" : "timestamps are"} invalid: ` +
              "not signed by the named log for this certificate, or in the future.",
          ),
        ]
      : []),
    ...(dane?.valid === false ? [finding("dane-mismatch", null, mismatch)] : []),
    ...(clientCertificateRequested
      ? [finding("client-certificate", null, "The server asks for a client certificate; this check has none to send.")]
      : []),
  ];
}

/** Reports a missing, expired or invalid stapled response; critical if the certificate requires one. */
function stapleFindings({
  mustStaple,
  stapled,
  staple,
}: Pick<FindingFacts, "mustStaple" | "stapled" | "staple">): SslDraft[] {
  const severity = mustStaple ? "critical" : "warning";
  const consequence = mustStaple
    ? "The certificate requires one (must-staple): clients that enforce it refuse the server."
    : "Some clients ignore the response, others refuse the server.";
  if (!stapled) {
    const message =
      "The certificate requires a stapled OCSP response (must-staple), but the server does not send one; clients that " +
      "enforce this refuse the server.";
    return mustStaple ? [finding("no-staple", null, message)] : [];
  }
  if (staple === null || (staple.error === null && staple.status !== "unknown")) return [];
  if (staple.error === "stale") {
    return [finding("stale-staple", null, `The stapled OCSP response has expired. ${consequence}`, severity)];
  }
  const why = (staple.error ?? "status unknown").replaceAll("_", " ");
  return [finding("bad-staple", null, `The stapled OCSP response is not valid (${why}). ${consequence}`, severity)];
}

/** Input of pathFindings. */
interface PathFacts {
  readonly leaf: Certificate;
  readonly sent: readonly Sent[];
  /** The path found, leaf first. */
  readonly path: readonly Certificate[];
  readonly chainTrusted: boolean;
  /** Whether the issuer of the leaf is unknown. */
  readonly issuerUnknown: boolean;
  readonly roots: readonly Uint8Array[];
  readonly now: Date;
}

/** Maximum number of certificates used; servers send fewer than ten. */
const MAX_SENT = 100;
/** Each library with programs that use it, as administrators know them. */
const CLIENTS: Readonly<Record<GreedyClient, string>> = {
  openssl: "OpenSSL (curl, Python, PHP, Node.js)",
  gnutls: "GnuTLS (wget on Debian)",
};

/** Reports clients that refuse a trusted chain because they try only one path, and explains an unknown issuer. */
export function pathFindings(facts: PathFacts): SslDraft[] {
  if (facts.issuerUnknown) return [issuerUnknown()];
  // In a path of one certificate, the leaf is itself an anchor.
  return facts.chainTrusted && facts.path.length > 1 ? pathBuilding(facts) : [];
}

function issuerUnknown(): SslDraft {
  const message =
    "The server did not send the issuer's certificate, and the certificate does not say where to fetch it. Either " +
    "the authority is not trusted, or its intermediate certificate is missing. If the authority is public, send its " +
    "intermediate certificate too.";
  return finding("issuer-unknown", null, message);
}

function pathBuilding({ leaf, sent, path, roots, now }: PathFacts): SslDraft[] {
  const others = sent.slice(1, MAX_SENT).flatMap((certificate) => certificate ?? []);
  const request = { leaf, sent: others, roots, now };
  const refusing = (Object.keys(CLIENTS) as GreedyClient[]).flatMap((client) => {
    const greedy = findGreedyPath(client, request);
    return greedy.trusted ? [] : [{ client, position: divergingPosition(greedy.issuers, path, sent) }];
  });
  if (refusing.length === 0) return [];
  const names = listAll(refusing.map(({ client }) => CLIENTS[client]));
  const positions = [...new Set(refusing.flatMap(({ position }) => position ?? []))];
  const where =
    positions.length === 0
      ? ""
      : ` They select the certificate sent at position ${positions.join(" or ")}: remove it, or send it last.`;
  const message = `Clients that try only one path refuse the chain, though another path is trusted: ${names}.${where}`;
  return [finding("path-building", null, message)];
}

/**
 * Returns the position, in the order sent, of the first issuer that a client selects outside the trusted path. Returns
 * null if that issuer was not sent.
 */
function divergingPosition(
  issuers: readonly Certificate[],
  path: readonly Certificate[],
  sent: readonly Sent[],
): number | null {
  const diverging = issuers.find((issuer) => !path.some((step) => isSame(step, issuer)));
  const position = sent.findIndex((one) => one !== null && diverging !== undefined && isSame(one, diverging));
  return position === -1 ? null : position;
}
