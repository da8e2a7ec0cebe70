import { Type, type TSchema } from "typebox";
import { defineTool, withDefault } from "#shared/tools/define.ts";
import { Host, Limitations, Nullable } from "#shared/tools/fields.ts";

function text(description: string) {
  return Type.String({ description });
}

function flag(description: string) {
  return Type.Boolean({ description });
}

function list<T extends TSchema>(items: T, description: string) {
  return Type.Array(items, { description });
}

function words<const W extends string>(values: readonly W[], description: string) {
  return Type.Unsafe<W>({ type: "string", enum: values, description });
}

const TRUST_ERROR =
  "expired, not_yet_valid, self_signed, missing_intermediate, untrusted_root, weak_signature, weak_key, revoked, " +
  "hostname_mismatch; or, rarer: malformed, bad_signature, not_a_ca, path_too_long, name_constraints, wrong_usage, " +
  "unknown_critical_extension";

const Key = Type.Object(
  {
    type: text("RSA, RSA-PSS, EC, Ed25519, Ed448, DSA, or unknown"),
    bits: Nullable(Type.Integer({ description: "Size in bits; null where it cannot be told" })),
    curve: Nullable(text("Named curve of an EC key, e.g. P-256; else null")),
  },
  { description: "Public key" },
);

const COMMON = {
  subject: text("Distinguished name of the holder (RFC 4514)"),
  issuer: text("Distinguished name of the issuer (RFC 4514)"),
  common_name: Nullable(text("CN of the subject; never counts as a host name")),
  serial: text("Serial number, hexadecimal"),
  fingerprint_sha256: text("SHA-256 of the certificate, hexadecimal"),
  key: Key,
  signature_algorithm: text("Algorithm of the issuer's signature, e.g. ecdsa-with-SHA256"),
  not_before: text("Start of validity, ISO 8601 UTC"),
  not_after: text("End of validity, ISO 8601 UTC"),
  days_left: Type.Integer({ description: "Whole days until not_after, rounded down; negative when expired" }),
  self_signed: flag("Signed with its own key"),
};

const Certificate = Type.Object(
  {
    ...COMMON,
    organization: Nullable(text("O of the subject")),
    issuer_common_name: Nullable(text("CN of the issuer")),
    issuer_organization: Nullable(text("O of the issuer")),
    san: list(Type.String(), "Subject alternative names: DNS names and addresses; other kinds as kind:value"),
    san_total: Type.Integer({ description: "How many names there are; san is cut where they are very many" }),
    wildcard: flag("One of the DNS names is a wildcard"),
    fingerprint_sha1: text("SHA-1 of the certificate, hexadecimal"),
    spki_sha256: text("SHA-256 of the public key (SubjectPublicKeyInfo), hexadecimal; stays when a key is kept"),
    lifetime_days: Type.Integer({ description: "From not_before to not_after in days, rounded" }),
    must_staple: flag("Asks clients to insist on a stapled OCSP response (RFC 7633)"),
    key_usage: Nullable(list(Type.String(), "Key usages by RFC 5280 names; null where not limited")),
    ext_key_usage: Nullable(list(Type.String(), "Extended key usages by name or OID; null where not limited")),
    policies: Nullable(
      words(
        ["dv", "ov", "ev"],
        "Validation by the CA/Browser Forum's policy OIDs: dv, ov, ev; null where none is named",
      ),
    ),
    policy_oids: list(Type.String(), "Certificate policy OIDs"),
    ocsp_urls: list(Type.String(), "OCSP responders"),
    crl_urls: list(Type.String(), "Revocation lists"),
    ca_issuers: list(Type.String(), "Where the issuer's certificate can be fetched"),
  },
  { description: "The server's own certificate: the first one sent" },
);

const ChainRow = Type.Object({
  position: Nullable(Type.Integer({ description: "Place in the order sent, 0 = first; null where not sent" })),
  role: words(
    ["leaf", "intermediate", "root", "extra"],
    "leaf, intermediate, root, or extra: sent but not part of the chain, or sent twice",
  ),
  sent: flag("Sent by the server; false for the root taken from our own list"),
  ...COMMON,
});

const Ocsp = Type.Object(
  {
    stapled: flag("The server stapled an OCSP response"),
    status: Nullable(words(["good", "revoked", "unknown"], "Status it gives: good, revoked, unknown; null: not read")),
    this_update: Nullable(text("When the status was known to hold, ISO 8601 UTC")),
    next_update: Nullable(text("When a newer one will be there, ISO 8601 UTC")),
  },
  { description: "Online certificate status" },
);

const Revocation = Type.Object(
  {
    status: words(["good", "revoked", "unknown"], "good, revoked, or unknown: nobody could be asked"),
    method: Nullable(words(["staple", "ocsp", "crl"], "Where the status is from: staple, ocsp, crl")),
  },
  { description: "Whether the certificate was revoked" },
);

const Cipher = Type.Object({
  protocol: text("Version it is offered with, e.g. TLSv1.2"),
  iana_name: text("IANA name"),
  openssl_name: Nullable(text("OpenSSL name")),
  code: text("IANA number, e.g. 0xc02f"),
  bits: Type.Integer({ description: "Strength of the encryption, bits" }),
  forward_secrecy: flag("A key that leaks later does not open today's traffic"),
  aead: flag("Authenticated encryption"),
  strength: words(["strong", "acceptable", "weak", "broken"], "strong, acceptable, weak or broken"),
});

const Ct = Type.Object(
  { scts: Type.Integer({ description: "Signed certificate timestamps seen" }) },
  { description: "Certificate transparency" },
);

const Offered = (version: string) => Nullable(flag(`Whether the server offers ${version}; null: could not be told`));

const Warning = Type.Object({
  id: text(
    "expires_soon, chain_expires_soon, old_protocol, no_modern_protocol, no_tls1_3, weak_signature, chain_order, " +
      "root_sent, extra_certificate, no_staple, client_certificate, long_lifetime",
  ),
  severity: words(["critical", "warning", "info"], "critical, warning or info"),
  message: text("What to know, one sentence"),
});

/** Certificate, chain and protocol versions of a TLS server. */
export const ssl = defineTool({
  name: "ssl",
  title: "SSL/TLS check",
  summary: "Certificate, chain, trust and protocol versions of a TLS server",
  scope: "ssl",
  target: { param: "host", kind: "host", connects: true },
  example: { host: "example.com" },
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
    port: Type.Integer({ description: "TCP port connected to" }),
    ip: text("Address connected to"),
    ip_version: Type.Union([Type.Literal(4), Type.Literal(6)], { description: "IP version: 4 or 6" }),
    addresses: list(
      Type.Object({
        ip: text("Address of the host"),
        ip_version: Type.Union([Type.Literal(4), Type.Literal(6)], { description: "IP version: 4 or 6" }),
        blocked: flag("Refused by the rules on targets, never contacted"),
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
    chain_complete: flag("No certificate between the server's own and a root is missing, as far as can be told"),
    chain_ordered: flag("Each certificate sent is the issuer of the one before it"),
    chain_trusted: flag("The chain leads to a trusted root and is good for a server; says nothing of the name"),
    contains_root: flag("A self-signed authority was sent along; clients do not need it"),
    missing_intermediate: flag("The issuer of the server's certificate was not sent"),
    hostname_match: flag("The host is among the certificate's alternative names"),
    trusted: flag(
      "A strict client would go on: chain, dates, name, signatures and keys are good; revocation: see there",
    ),
    trust_error: Nullable(text(`The gravest reason not to trust, null where trusted: ${TRUST_ERROR}`)),
    errors: list(Type.String(), "All reasons not to trust, the gravest first, same words as trust_error"),
    client_certificate_requested: flag("The server asked for a client certificate"),
    handshake_error: Nullable(
      Type.Object(
        {
          reason: text("An alert's name, reset, closed, timeout, ... as in error.reason"),
          message: text("The same in a sentence"),
        },
        { description: "Why the handshake failed after the certificate had come; null where it stood" },
      ),
    ),
    ocsp: Nullable(Ocsp),
    revocation: Nullable(Revocation),
    protocols: Type.Object(
      {
        ssl3: Offered("SSL 3"),
        tls1_0: Offered("TLS 1.0"),
        tls1_1: Offered("TLS 1.1"),
        tls1_2: Offered("TLS 1.2"),
        tls1_3: Offered("TLS 1.3"),
      },
      { description: "Protocol versions, each tested by a handshake of its own" },
    ),
    ciphers: Nullable(list(Cipher, "Cipher suites the server accepts")),
    ct: Nullable(Ct),
    grade: Nullable(text("Grade A+ to F, T for untrusted, M for a name mismatch")),
    score: Nullable(Type.Integer({ minimum: 0, maximum: 100, description: "Points behind the grade, 0-100" })),
    warnings: list(Warning, "What is worth attention though it does not decide trust, the most urgent first"),
    resolve_ms: Type.Number({ description: "Name look-up, milliseconds; 0 for an address" }),
    connect_ms: Type.Number({ description: "TCP connection, milliseconds" }),
    handshake_ms: Nullable(Type.Number({ description: "TLS handshake, milliseconds; null where it did not complete" })),
    observed_at: text("When the check began, ISO 8601 UTC"),
    limitations: Limitations(),
  }),
  across: {
    agreeOn: ({ certificate }) => certificate.fingerprint_sha256,
    measure: ({ handshake_ms }) => ({ handshake_ms }),
  },
});
