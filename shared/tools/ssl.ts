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
  "hostname_mismatch; or, rarer: malformed, bad_signature, not_a_ca, path_too_long, name_constraints, no_valid_policy, " +
  "wrong_usage, " +
  "unknown_critical_extension";

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
      Type.Integer({ minimum: 1, maximum: 65_535, description: "TCP port; TLS at once, no STARTTLS" }),
      443,
    ),
  }),
  result: Type.Object({
    host: text("Host as asked for: lower-case A-labels or an IP literal"),
    port: integer("TCP port connected to"),
    ip: text("Address connected to"),
    ip_version: ipVersion(),
    addresses: list(
      Type.Object({
        ip: text("Address of the host"),
        ip_version: ipVersion(),
        blocked: truth("Refused by the rules on targets, never contacted"),
      }),
      "All addresses the host resolves to",
    ),
    servername: Nullable(text("Name sent as SNI; null for an IP literal")),
    protocol: Nullable(text("Negotiated version, e.g. TLSv1.3; null where the handshake did not complete")),
    cipher: Nullable(text("Negotiated cipher suite, IANA name; null where the handshake did not complete")),
    alpn: Nullable(text("Negotiated application protocol of h2 and http/1.1; null where the server chose none")),
    certificate: Certificate,
    chain: list(
      ChainRow,
      "Certificates in the order sent, repeats kept, then the root they lead to if it was not sent",
    ),
    chain_complete: truth("No certificate between the server's own and a root is missing, as far as can be told"),
    chain_ordered: truth("Each certificate sent is the issuer of the one before it"),
    chain_trusted: truth("The chain leads to a trusted root and is good for a server; says nothing of the name"),
    contains_root: truth("A self-signed authority was sent along; clients do not need it"),
    missing_intermediate: truth(
      "The issuer of the server's certificate was not sent, and the certificate names a place to fetch it from",
    ),
    hostname_match: truth("The host is among the certificate's alternative names"),
    trusted: truth(
      "A current browser connects: chain, dates, name, signatures, keys and form are good, and nothing is known to be " +
        "revoked; what only stricter clients refuse is in findings",
    ),
    trust_error: Nullable(text(`The gravest reason not to trust, null where trusted: ${TRUST_ERROR}`)),
    client_certificate_requested: truth("The server asked for a client certificate"),
    handshake_error: Nullable(
      Type.Object(
        {
          reason: text("An alert's name, reset, closed, timeout, ... as in error.reason"),
          message: text("The same in a sentence"),
        },
        { description: "Why the handshake failed after the certificate had come; null where it stood" },
      ),
    ),
    ocsp: Ocsp,
    revocation: Revocation,
    ...CONFIGURATION,
    other_certificates: Nullable(
      list(OtherCertificate, "Certificates for clients that take other keys, as RSA beside ECDSA; null: not told"),
    ),
    ct: Ct,
    ...NAMES,
    findings: findings(
      "What is wrong or worth knowing, worst first: every reason not to trust the certificate, then chain, protocols, cipher suites and revocation",
    ),
    warnings: texts("Messages of the findings, in their order"),
    resolve_ms: number("Name look-up, milliseconds; 0 for an address"),
    connect_ms: number("TCP connection, milliseconds; a SYN that was lost and sent again after 1 s is part of it"),
    handshake_ms: Nullable(number("TLS handshake, milliseconds; null where it did not complete")),
    observed_at: text("When the check began, ISO 8601 UTC"),
    elapsed_ms: elapsed(),
    limitations: Limitations(),
  }),
  across: {
    agreeOn: ({ certificate }) => certificate.fingerprint_sha256,
    measure: ({ handshake_ms }) => ({ handshake_ms }),
  },
});
