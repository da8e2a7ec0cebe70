import { Type } from "typebox";
import { defineTool, withDefault } from "#shared/tools/define.ts";
import { Host, Limitations, Nullable } from "#shared/tools/fields.ts";
import { ipVersion, elapsed, findings, integer, list, number, text, texts, truth } from "#shared/tools/shapes.ts";
import { Certificate, ChainRow, OtherCertificate } from "#shared/tools/ssl/certificate.ts";
import { CONFIGURATION } from "#shared/tools/ssl/configuration.ts";
import { NAMES } from "#shared/tools/ssl/names.ts";
import { Ct, Ocsp, Revocation } from "#shared/tools/ssl/status.ts";
import { hostSeenAt } from "#shared/tools/observations.ts";

const TRUST_ERROR =
  "expired, not_yet_valid, self_signed, missing_intermediate, untrusted_root, weak_signature, weak_key, revoked, " +
  "hostname_mismatch; less common: malformed, bad_signature, not_a_ca, path_too_long, name_constraints, " +
  "no_valid_policy, wrong_usage, unknown_critical_extension";

/** Certificate, chain, configuration and grade of a TLS server. */
export const ssl = defineTool({
  name: "ssl",
  title: "SSL/TLS check",
  summary: "Certificate, trust, protocol versions, cipher suites and grade of a TLS server",
  scope: "ssl",
  toolset: "tls",
  target: { param: "host", kind: "host", connects: true },
  example: { host: "example.com" },
  observes: ({ host, addresses }) =>
    hostSeenAt(
      host,
      addresses.map(({ ip }) => ip),
    ),
  open: { q: "host", extra: ["port"] },
  deadlineMs: () => 20_000,
  params: Type.Object({
    host: Host({ description: "Host name or IP address of the server" }),
    port: withDefault(
      Type.Integer({ minimum: 1, maximum: 65_535, description: "TCP port; TLS from the first octet, no STARTTLS" }),
      443,
    ),
  }),
  result: Type.Object({
    host: text("Host that was checked: lower-case A-labels or an IP literal"),
    port: integer("TCP port of the connection"),
    ip: text("Address of the connection"),
    ip_version: ipVersion(),
    addresses: list(
      Type.Object({
        ip: text("Address of the host"),
        ip_version: ipVersion(),
        blocked: truth("Refused by the rules on targets and never contacted"),
      }),
      "All addresses the host resolves to",
    ),
    servername: Nullable(text("Name sent as SNI; null for an IP literal")),
    protocol: Nullable(text("Negotiated version, e.g. TLSv1.3; null if the handshake did not complete")),
    cipher: Nullable(text("Negotiated cipher suite, IANA name; null if the handshake did not complete")),
    alpn: Nullable(text("Negotiated application protocol: h2 or http/1.1; null if the server selected none")),
    certificate: Certificate,
    chain: list(
      ChainRow,
      "Certificates in the order sent, including repeats, then the root of the chain if it was not sent",
    ),
    chain_complete: truth("No certificate between the server's own and a root is known to be missing"),
    chain_ordered: truth("Each certificate sent is the issuer of the one before it"),
    chain_trusted: truth("The chain leads to a trusted root and is valid for a server, regardless of the host name"),
    contains_root: truth("A self-signed authority was sent; clients do not need it"),
    missing_intermediate: truth(
      "The issuer of the server's certificate was not sent, and the certificate has a URL to fetch it from",
    ),
    hostname_match: truth("The host is among the certificate's alternative names"),
    trusted: truth(
      "A current browser connects: chain, dates, name, signatures, keys and form are valid, and nothing is known to " +
        "be revoked; findings list faults that only stricter clients refuse",
    ),
    trust_error: Nullable(text(`Most severe reason not to trust; null if trusted: ${TRUST_ERROR}`)),
    client_certificate_requested: truth("The server asked for a client certificate"),
    handshake_error: Nullable(
      Type.Object(
        {
          reason: text("Code: an alert's name, reset, closed, timeout, ... as in error.reason"),
          message: text("The reason as a sentence"),
        },
        { description: "Why the handshake failed after the certificate arrived; null if it completed" },
      ),
    ),
    ocsp: Ocsp,
    revocation: Revocation,
    ...CONFIGURATION,
    other_certificates: Nullable(
      list(OtherCertificate, "Certificates for clients that accept other keys, e.g. RSA beside ECDSA; null if unknown"),
    ),
    ct: Ct,
    ...NAMES,
    findings: findings(
      "Problems and observations, worst first: every reason not to trust the certificate, then chain, protocols, " +
        "cipher suites and revocation",
    ),
    warnings: texts("Messages of the findings, in their order"),
    resolve_ms: number("Time of the name look-up in milliseconds; 0 for an address"),
    connect_ms: number("Time of the TCP connection in milliseconds, including a lost SYN that is sent again after 1 s"),
    handshake_ms: Nullable(number("Time of the TLS handshake in milliseconds; null if it did not complete")),
    observed_at: text("Start of the check, ISO 8601 UTC"),
    elapsed_ms: elapsed(),
    limitations: Limitations(),
  }),
  across: {
    agreeOn: ({ certificate }) => certificate.fingerprint_sha256,
    measure: ({ handshake_ms }) => ({ handshake_ms }),
  },
});
