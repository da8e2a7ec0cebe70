import type { Sample } from "#control-plane/surfaces/blackbox/metric-families.ts";

/** Input of the certificate metrics; times are ISO 8601. */
interface CertificateFacts {
  /** TLS version as Node names it, e.g. TLSv1.3. */
  readonly protocol: string;
  readonly subject: string;
  readonly issuer: string;
  readonly san: readonly string[];
  readonly fingerprint: string;
  /** Earliest expiry of a certificate that the server sent. */
  readonly chainEnd: string;
  /** Earliest expiry on the path to a trusted root. */
  readonly pathEnd: string;
}

/** Returns the TLS metrics of the exporter. */
export function certificateSamples(facts: CertificateFacts): readonly Sample[] {
  return [
    {
      name: "probe_ssl_earliest_cert_expiry",
      help: "Returns last SSL chain expiry in unixtime",
      value: unixSeconds(facts.chainEnd),
    },
    {
      name: "probe_ssl_last_chain_expiry_timestamp_seconds",
      help: "Returns last SSL chain expiry in timestamp",
      value: unixSeconds(facts.pathEnd),
    },
    {
      name: "probe_ssl_last_chain_info",
      help: "Contains SSL leaf certificate information",
      labels: {
        fingerprint_sha256: facts.fingerprint,
        issuer: facts.issuer,
        subject: facts.subject,
        // The exporter lists only DNS names.
        subjectalternative: facts.san.filter((name) => !/^[\d.]+$|:/.test(name)).join(","),
      },
      value: 1,
    },
    {
      name: "probe_tls_version_info",
      help: "Returns the TLS version used or NaN when unknown",
      labels: { version: facts.protocol.replace(/^TLSv1$/, "TLS 1.0").replace(/^TLSv/, "TLS ") },
      value: 1,
    },
  ];
}

function unixSeconds(iso: string): number {
  return Math.floor(Date.parse(iso) / 1000);
}
