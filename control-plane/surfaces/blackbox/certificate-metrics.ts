import type { Sample } from "#control-plane/surfaces/blackbox/metric-families.ts";

/** What the certificate families are made of; times are ISO 8601. */
export interface CertificateFacts {
  /** Node's name of the version, e.g. TLSv1.3. */
  readonly protocol: string;
  readonly subject: string;
  readonly issuer: string;
  readonly san: readonly string[];
  readonly fingerprint: string;
  /** Earliest end of a certificate sent. */
  readonly chainEnd: string;
  /** Earliest end on the path to a trusted root. */
  readonly pathEnd: string;
}

/** The TLS families of the exporter. */
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
        // The exporter lists DNS names alone.
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
