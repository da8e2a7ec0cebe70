import { Type } from "typebox";
import { defineTool, withDefault } from "#shared/tools/define.ts";
import { Host, Limitations, Nullable } from "#shared/tools/fields.ts";
import {
  ipVersion,
  elapsed,
  findings,
  integer,
  list,
  number,
  text,
  texts,
  truth,
  count,
  record,
  word,
} from "#shared/tools/shapes.ts";
import { Certificate, ChainRow, OtherCertificate } from "#shared/tools/ssl/certificate.ts";
import { CONFIGURATION } from "#shared/tools/ssl/configuration.ts";
import { Ct, Ocsp, Revocation } from "#shared/tools/ssl/status.ts";
import { hostSeenAt } from "#shared/tools/observations.ts";

const TRUST_ERROR =
  "expired, not_yet_valid, self_signed, missing_intermediate, untrusted_root, weak_signature, weak_key, revoked, " +
  "hostname_mismatch; less common: malformed, bad_signature, not_a_ca, path_too_long, name_constraints, " +
  "no_valid_policy, wrong_usage, unknown_critical_extension";

const Tlsa = Type.Object({
  usage: integer("Certificate usage: 0 PKIX-TA, 1 PKIX-EE, 2 DANE-TA, 3 DANE-EE; -1 if unreadable"),
  selector: integer("0 certificate, 1 public key; -1 if unreadable"),
  matching_type: integer("0 exact, 1 SHA-256, 2 SHA-512; -1 if unreadable"),
  data: text("Certificate association data, hexadecimal; truncated if long"),
  usable: truth("All fields have values of RFC 6698; clients ignore other records"),
  matches: truth("The server's chain satisfies the record"),
});

const Dane = record(
  {
    tlsa: list(Tlsa, "TLSA records at _<port>._tcp.<host>, the first 20"),
    tlsa_total: count("Number of TLSA records"),
    valid: Nullable(
      truth(
        "A client that supports DANE connects: a usable record matches; false if none does or the records fail " +
          "validation; null if no record is usable, the records are not signed, or unknown",
      ),
    ),
    dnssec: Nullable(
      word(
        ["secure", "insecure", "bogus"],
        "DNSSEC status, validated by the probe: secure; insecure: not signed, so DANE does not apply; bogus: " +
          "validation fails; null if there is no record, or unknown",
      ),
    ),
    reason: Nullable(text("Reason for the DNSSEC status; null if there is none")),
  },
  "DANE (RFC 6698, RFC 7671) for the port; null for an address",
);

const Caa = Type.Object({
  name: text("Name of the record: the host or its nearest parent with records"),
  critical: truth("An authority that does not support the tag must not issue"),
  tag: text("issue, issuewild, iodef, ..."),
  value: text("Value as published: an authority's domain and its parameters, or a reporting address"),
});

/** Fields of the ssl tool's result from DNS records that limit the certificates and authorities of a host. */
const NAMES = {
  dane: Nullable(Dane),
  caa: Nullable(
    list(
      Caa,
      "CAA records that apply to the certificate's name, by tree climbing (RFC 8659), the first 50; empty if any " +
        "authority is allowed to issue; null for an address, or if unknown",
    ),
  ),
  caa_allows_issuer: Nullable(
    truth(
      "The records allow the certificate's authority to issue the next certificate; they apply only at issuance; " +
        "null if unknown",
    ),
  ),
};

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
