import { unredacted } from "#shared/text/redact.ts";
import type { CtLogs } from "#probe-agent/analysis/tls/ssl/ct-log.ts";
import { sortFindings, type Finding } from "#shared/contracts/findings.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { ssl } from "#shared/tools/ssl/contract.ts";
import { toMicroseconds } from "#probe-agent/analysis/network/statistics.ts";
import { isSame } from "#probe-agent/analysis/tls/certificate/anchors.ts";
import {
  describeCertificate,
  describeChainCertificate,
  type CertificateDescription,
} from "#probe-agent/analysis/tls/certificate/describe.ts";
import { signatureName } from "#probe-agent/analysis/tls/certificate/keys.ts";
import { lacksIssuer } from "#probe-agent/analysis/tls/certificate/server.ts";
import { MAX_ROWS, reportChain, type Sent } from "#probe-agent/analysis/tls/ssl/chain.ts";
import type { Configuration, HstsSeen } from "#probe-agent/analysis/tls/ssl/configuration.ts";
import { gradeTls, type SslGrading } from "#probe-agent/tools/ssl/grade.ts";
import { sslFindings } from "#probe-agent/analysis/tls/ssl/findings.ts";
import { SSL_ADVICE } from "#probe-agent/analysis/tls/ssl/advice.ts";
import { adviseOn, finding } from "#probe-agent/analysis/text/findings.ts";
import { reportNames, type NamesFacts } from "#probe-agent/tools/ssl/names.ts";
import { configurationLimits, reportConfiguration, reportHsts } from "#probe-agent/tools/ssl/configuration-report.ts";
import { reportRevocation, type RevocationFacts } from "#probe-agent/analysis/tls/ssl/revocation.ts";
import { readServerChain, type ChainTerms, type ServerChain } from "#probe-agent/analysis/tls/ssl/server.ts";
import { reportTransparency } from "#probe-agent/tools/ssl/transparency.ts";
import { decideTrust } from "#probe-agent/analysis/tls/ssl/trust.ts";
import type { TlsObservation } from "#probe-agent/port/tls.ts";

type Result = ResultOf<typeof ssl>;

/** The part of the tool's result that the facts determine. */
type SslReport = Omit<
  Result,
  "host" | "port" | "ip" | "ip_version" | "addresses" | "servername" | "resolve_ms" | "observed_at" | "elapsed_ms"
>;

/** Input of sslReport. */
export interface SslFacts extends ChainTerms {
  readonly observation: TlsObservation;
  readonly chain: ServerChain;
  readonly configuration: Configuration;
  readonly hsts: HstsSeen;
  /** Which of h2 and http/1.1 the server accepts by ALPN; null if unknown. */
  readonly httpAlpn: readonly string[] | null;
  /** Certificates sent to a client that accepts another type of key; empty if there are none, null if unknown. */
  readonly otherSent: readonly Uint8Array[] | null;
  readonly revocation: RevocationFacts;
  /** List of signed certificate timestamps from the TLS extension; null if there is none. */
  readonly timestamps: Uint8Array | null | "unknown";
  /** Null if the host is an address. */
  readonly names: NamesFacts | null;
  readonly ctLogs: CtLogs;
}

/** Returns the part of the ssl tool's result that the facts determine. */
export function sslReport(facts: SslFacts): SslReport {
  const { observation, configuration, hsts } = facts;
  const analysis = analyzeServer(facts);
  const { certificate, revocation, transparency, names, trust, otherCertificates } = analysis;
  const noticed = noticedFindings(facts, analysis);
  const grading = gradeServer(facts, analysis, noticed);
  const found = sortFindings([...trust.findings, ...noticed, ...untrustedOthers(otherCertificates)]);
  return {
    protocol: observation.protocol,
    cipher: observation.cipher,
    alpn: observation.alpn,
    certificate: { ...certificate, scts: transparency.ct.scts },
    ...chainFields(facts, analysis),
    client_certificate_requested: observation.clientCertificateRequested,
    handshake_error: observation.error,
    ocsp: revocation.ocsp,
    revocation: revocation.revocation,
    ct: transparency.ct,
    ...names.fields,
    ...reportConfiguration(configuration),
    http_alpn: facts.httpAlpn === null ? null : [...facts.httpAlpn],
    hsts: reportHsts(hsts),
    other_certificates: otherCertificates,
    grade: grading.grade,
    grade_caps: [...grading.caps],
    score: grading.score,
    scores: grading.scores,
    findings: found,
    warnings: found.map(({ message }) => message),
    connect_ms: toMicroseconds(observation.connectMs),
    handshake_ms: observation.handshakeMs === null ? null : toMicroseconds(observation.handshakeMs),
    limitations: limitationsOf(facts, analysis, grading),
  };
}

/** Returns the analyses of a server that findings, grade and result fields use. */
function analyzeServer(facts: SslFacts) {
  const { observation, now } = facts;
  const { sent, leaf, issuer, verification } = facts.chain;
  const revocation = reportRevocation(facts.revocation, observation.ocspStaple !== null);
  const fromOcsp = facts.revocation.staple?.timestamps ?? null;
  const trust = decideTrust({ leaf, host: facts.host, verification, revocation, now, redact: unredacted });
  return {
    chain: reportChain(sent, verification.path, now),
    certificate: describeCertificate(leaf, now),
    revocation,
    transparency: reportTransparency({
      leaf,
      issuer,
      fromTls: facts.timestamps,
      fromOcsp,
      logs: facts.ctLogs,
      now,
    }),
    names: reportNames(facts.names, facts.chain, facts),
    trust,
    missingIntermediate: trust.errors.includes("missing_intermediate"),
    otherCertificates: reportOtherCertificates(facts),
  };
}

type Analysis = ReturnType<typeof analyzeServer>;

/** Returns the findings that do not decide trust. */
function noticedFindings(facts: SslFacts, analysis: Analysis): Finding[] {
  const { observation, configuration, hsts, now } = facts;
  const { sent, leaf, verification } = facts.chain;
  return sslFindings({
    leaf,
    sent,
    path: verification.path,
    chainTrusted: verification.trusted,
    anchored: facts.chain.anchored,
    pathIsWeak: analysis.trust.errors.includes("weak_signature"),
    issuerUnknown: lacksIssuer(verification) && !analysis.missingIntermediate,
    roots: facts.roots,
    chain: analysis.chain,
    configuration,
    hsts,
    mustStaple: analysis.certificate.must_staple,
    stapled: observation.ocspStaple !== null,
    staple: facts.revocation.staple,
    badTimestamps: analysis.transparency.bad,
    dane: analysis.names.fields.dane,
    clientCertificateRequested: observation.clientCertificateRequested,
    handshakeError: observation.error,
    now,
  });
}

function gradeServer(
  { configuration, hsts, chain: { verification } }: SslFacts,
  { certificate, revocation }: Analysis,
  noticed: readonly Finding[],
): SslGrading {
  return gradeTls({
    configuration,
    hsts,
    key: certificate.key,
    chainTrusted: verification.trusted,
    hostnameMatch: verification.hostname_match,
    errors: verification.errors,
    md5: verification.path.slice(0, -1).some((one) => /^md[245]/i.test(signatureName(one))),
    revocation: revocation.revoked ? "revoked" : revocation.revocation.status,
    warnings: noticed.filter(({ severity }) => severity !== "info").length,
  });
}

/** Fields of the result about the chain and its trust. */
type ChainFields = Pick<
  Result,
  | "chain"
  | "chain_complete"
  | "chain_ordered"
  | "chain_trusted"
  | "contains_root"
  | "missing_intermediate"
  | "hostname_match"
  | "trusted"
  | "trust_error"
>;

function chainFields(
  { chain: { verification } }: SslFacts,
  { chain, missingIntermediate, revocation, trust }: Analysis,
): ChainFields {
  return {
    chain: chain.rows,
    chain_complete: !missingIntermediate && !lacksIssuer(verification),
    chain_ordered: chain.ordered,
    chain_trusted: verification.trusted && !revocation.revoked,
    contains_root: chain.containsRoot,
    missing_intermediate: missingIntermediate,
    hostname_match: verification.hostname_match,
    trusted: trust.trusted,
    trust_error: trust.error,
  };
}

function limitationsOf(facts: SslFacts, analysis: Analysis, { grade }: SslGrading): string[] {
  const { certificate, revocation, transparency, names } = analysis;
  return [
    ...certificateLimits(facts.chain.sent, certificate),
    ...configurationLimits(facts),
    ...(grade === null ? ["No grade was given: too little is known about versions and cipher suites."] : []),
    ...revocation.limitations,
    ...transparency.limitations,
    ...names.limitations,
  ];
}

/** Describes the certificate for clients that accept other keys, if it differs; null if unknown. */
function reportOtherCertificates(facts: SslFacts): Result["other_certificates"] {
  if (facts.otherSent === null) return null;
  const other = readServerChain(facts.otherSent, facts);
  if (other === null || isSame(other.leaf, facts.chain.leaf)) return [];
  const { errors } = other.verification;
  return [
    {
      ...describeChainCertificate(other.leaf, facts.now),
      trusted: errors.length === 0,
      trust_error: errors[0] ?? null,
    },
  ];
}

/** Returns findings for other certificates that are not trusted: clients that receive them refuse the server. */
function untrustedOthers(rows: Result["other_certificates"]): Finding[] {
  const drafts = (rows ?? []).flatMap(({ key, trust_error: error, fingerprint_sha256: where }) => {
    if (error === null) return [];
    const why = error.replaceAll("_", " ");
    const message = `The certificate for clients that accept only ${key.type} keys is not trusted: ${why}.`;
    return [finding("other-certificate-untrusted", where, message)];
  });
  return adviseOn(SSL_ADVICE, drafts, null);
}

function certificateLimits(sent: readonly Sent[], certificate: CertificateDescription): string[] {
  const unreadable = sent.flatMap((one, index) => (one === null ? [index] : []));
  return [
    ...(unreadable.length > 0
      ? [`Certificates at positions ${unreadable.join(", ")} could not be read and are not shown.`]
      : []),
    ...(sent.length > MAX_ROWS ? [`Only the first ${MAX_ROWS} of ${sent.length} certificates sent are shown.`] : []),
    ...(certificate.san.length < certificate.san_total ? ["Not all alternative names are shown."] : []),
  ];
}
