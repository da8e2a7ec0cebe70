import type { ResultOf } from "#shared/tools/define.ts";
import type { ssl } from "#shared/tools/ssl.ts";
import { toMicroseconds } from "#probe-agent/analysis/statistics.ts";
import { verifyChain } from "#probe-agent/analysis/certificate.ts";
import { isSame } from "#probe-agent/analysis/certificate/anchors.ts";
import { describeCertificate, describeInChain } from "#probe-agent/analysis/certificate/describe.ts";
import { signatureName } from "#probe-agent/analysis/certificate/keys.ts";
import { parseCertificate, type Certificate } from "#probe-agent/analysis/certificate/parse.ts";
import { MAX_ROWS, reportChain, type Sent } from "#probe-agent/analysis/ssl/chain.ts";
import type { Configuration, HstsSeen } from "#probe-agent/analysis/ssl/configuration.ts";
import { gradeTls } from "#probe-agent/analysis/ssl/grade.ts";
import { configurationLimits, reportConfiguration, reportHsts } from "#probe-agent/analysis/ssl/report.ts";
import { sslWarnings } from "#probe-agent/analysis/ssl/warnings.ts";
import type { TlsObservation } from "#probe-agent/net/port/tls.ts";

type Result = ResultOf<typeof ssl>;

/** The part of the tool's result that follows from what was seen, the roots and the clock. */
export type SslReport = Omit<
  Result,
  "host" | "port" | "ip" | "ip_version" | "addresses" | "servername" | "resolve_ms" | "observed_at"
>;

/** What the report is made from. */
export interface SslFacts {
  readonly observation: TlsObservation;
  readonly configuration: Configuration;
  readonly hsts: HstsSeen;
  /** h2 and http/1.1 as far as offered; null where it could not be told. */
  readonly httpAlpn: readonly string[] | null;
  /** Certificates as sent to a client that takes another kind of key, [] where there are none; null: not told. */
  readonly otherSent: readonly Uint8Array[] | null;
  readonly host: string;
  readonly roots: readonly Uint8Array[];
  readonly now: Date;
}

/** Parts of the result nobody looks into yet, each with what is said of it. */
const NOT_TESTED = ["Revocation was not checked.", "Certificate transparency was not checked."];

/** Judges and describes what a server showed; null where its first certificate cannot be read. */
export function sslReport(facts: SslFacts): SslReport | null {
  const { observation, configuration, hsts, now } = facts;
  const sent: Sent[] = observation.sent.map(parseCertificate);
  const [leaf, ...others] = sent;
  if (!leaf) return null;
  const verdict = judge(leaf, others, facts);
  const chain = reportChain(sent, verdict.path, now);
  const certificate = describeCertificate(leaf, now);
  const { clientCertificateRequested } = observation;
  const missingIntermediate = verdict.errors.includes("missing_intermediate");
  const warnings = sslWarnings({
    leaf,
    sent,
    path: verdict.path,
    chain,
    configuration,
    hsts,
    mustStaple: certificate.must_staple,
    stapled: observation.ocspStaple !== null,
    clientCertificateRequested,
    now,
  });
  const grading = gradeTls({
    configuration,
    hsts,
    key: certificate.key,
    chainTrusted: verdict.trusted,
    hostnameMatch: verdict.hostname_match,
    errors: verdict.errors,
    md5: verdict.path.slice(0, -1).some((one) => /^md[245]/i.test(signatureName(one))),
    revocation: null,
    warnings: warnings.filter(({ severity }) => severity !== "info").length,
  });
  return {
    protocol: observation.protocol,
    cipher: observation.cipher,
    alpn: observation.alpn,
    certificate,
    chain: chain.rows,
    chain_complete: !missingIntermediate,
    chain_ordered: chain.ordered,
    chain_trusted: verdict.trusted,
    contains_root: chain.containsRoot,
    missing_intermediate: missingIntermediate,
    hostname_match: verdict.hostname_match,
    trusted: verdict.trusted && verdict.hostname_match,
    trust_error: verdict.errors[0] ?? null,
    errors: verdict.errors,
    client_certificate_requested: clientCertificateRequested,
    handshake_error: observation.error,
    ocsp: null,
    revocation: null,
    ct: null,
    ...reportConfiguration(configuration),
    http_alpn: facts.httpAlpn === null ? null : [...facts.httpAlpn],
    hsts: reportHsts(hsts),
    other_certificates: otherCertificates(leaf, facts),
    grade: grading.grade,
    grade_caps: [...grading.caps],
    score: grading.score,
    scores: grading.scores,
    warnings,
    connect_ms: toMicroseconds(observation.connectMs),
    handshake_ms: observation.handshakeMs === null ? null : toMicroseconds(observation.handshakeMs),
    limitations: [
      ...certificateLimits(sent, certificate),
      ...configurationLimits(facts),
      ...(grading.grade === null ? ["No grade is given: too little is known of versions and suites."] : []),
      ...NOT_TESTED,
    ],
  };
}

function judge(
  leaf: Certificate,
  others: readonly Sent[],
  { host, roots, now }: SslFacts,
): ReturnType<typeof verifyChain> {
  const intermediates = others.flatMap((certificate) => (certificate ? [certificate.der] : []));
  return verifyChain({ leaf: leaf.der, intermediates, roots, host, now });
}

/** The certificate for clients that take other keys, where it is another one. */
function otherCertificates(own: Certificate, facts: SslFacts): Result["other_certificates"] {
  if (facts.otherSent === null) return null;
  const [leaf, ...others] = facts.otherSent.map(parseCertificate);
  if (!leaf || isSame(leaf, own)) return [];
  const { trusted, hostname_match, errors } = judge(leaf, others, facts);
  return [{ ...describeInChain(leaf, facts.now), trusted: trusted && hostname_match, errors }];
}

function certificateLimits(sent: readonly Sent[], certificate: Result["certificate"]): string[] {
  const unreadable = sent.flatMap((one, index) => (one === null ? [index] : []));
  return [
    ...(unreadable.length > 0
      ? [`Certificates that could not be read are left out, at ${unreadable.join(", ")}.`]
      : []),
    ...(sent.length > MAX_ROWS ? [`Of ${sent.length} certificates sent only the first ${MAX_ROWS} are shown.`] : []),
    ...(certificate.san.length < certificate.san_total ? ["Not all alternative names are shown."] : []),
    "OCSP was not looked at, in the handshake or at a responder.",
  ];
}
