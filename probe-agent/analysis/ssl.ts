import type { ResultOf } from "#shared/tools/define.ts";
import type { ssl } from "#shared/tools/ssl.ts";
import { toMicroseconds } from "#probe-agent/analysis/statistics.ts";
import { verifyChain } from "#probe-agent/analysis/certificate.ts";
import { describeCertificate } from "#probe-agent/analysis/certificate/describe.ts";
import { parseCertificate } from "#probe-agent/analysis/certificate/parse.ts";
import { MAX_ROWS, reportChain, type Sent } from "#probe-agent/analysis/ssl/chain.ts";
import { sslWarnings } from "#probe-agent/analysis/ssl/warnings.ts";
import type { TlsObservation } from "#probe-agent/net/port/tls.ts";

type Result = ResultOf<typeof ssl>;

/** The part of the tool's result that follows from one handshake, the roots and the clock. */
export type SslReport = Omit<
  Result,
  "host" | "port" | "ip" | "ip_version" | "addresses" | "servername" | "protocols" | "resolve_ms" | "observed_at"
>;

/** What the report is made from. */
export interface SslFacts {
  readonly observation: TlsObservation;
  readonly host: string;
  readonly roots: readonly Uint8Array[];
  readonly protocols: Result["protocols"];
  readonly now: Date;
}

/** Parts of the result nobody looks into yet, each with what is said of it. */
const NOT_TESTED = [
  "SSL 3 was not tested.",
  "Only the negotiated cipher suite is known; the others were not tested.",
  "Revocation was not checked.",
  "Certificate transparency was not checked.",
  "No grade is given.",
  "No score is given.",
];

/** Judges and describes what a server showed; null where its first certificate cannot be read. */
export function sslReport({ observation, host, roots, protocols, now }: SslFacts): SslReport | null {
  const sent: Sent[] = observation.sent.map(parseCertificate);
  const [leaf, ...others] = sent;
  if (!leaf) return null;
  const intermediates = others.flatMap((certificate) => (certificate ? [certificate.der] : []));
  const verdict = verifyChain({ leaf: leaf.der, intermediates, roots, host, now });
  const chain = reportChain(sent, verdict.path, now);
  const certificate = describeCertificate(leaf, now);
  const stapled = observation.ocspStaple !== null;
  const { clientCertificateRequested } = observation;
  const missingIntermediate = verdict.errors.includes("missing_intermediate");
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
    ciphers: null,
    ct: null,
    grade: null,
    score: null,
    warnings: sslWarnings({
      leaf,
      sent,
      path: verdict.path,
      chain,
      protocols,
      mustStaple: certificate.must_staple,
      stapled,
      clientCertificateRequested,
      now,
    }),
    connect_ms: toMicroseconds(observation.connectMs),
    handshake_ms: observation.handshakeMs === null ? null : toMicroseconds(observation.handshakeMs),
    limitations: [...limitations(sent, certificate), ...NOT_TESTED],
  };
}

function limitations(sent: readonly Sent[], certificate: Result["certificate"]): string[] {
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
