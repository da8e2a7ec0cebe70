import { Nullable } from "#shared/tools/fields.ts";
import { count, integer, number, record, text, texts, truth } from "#shared/tools/shapes.ts";

const Certificate = record(
  {
    subject: text("Distinguished name of the holder (RFC 4514)"),
    issuer: text("Distinguished name of the issuer (RFC 4514)"),
    san: texts("Subject alternative names, the first 50"),
    not_before: text("Start of validity, ISO 8601 UTC"),
    not_after: text("End of validity, ISO 8601 UTC"),
    days_left: integer("Whole days until not_after, rounded down; negative when expired"),
    key_type: text("RSA, RSA-PSS, EC, Ed25519, Ed448, DSA, or unknown"),
    key_bits: Nullable(integer("Size of the key in bits; null if unknown")),
    signature_algorithm: text("Algorithm of the issuer's signature"),
    fingerprint_sha256: text("SHA-256 of the certificate, hexadecimal"),
    spki_sha256: text("SHA-256 of the public key, hexadecimal: what a TLSA record 3 1 1 holds"),
    self_signed: truth("Signed with its own key"),
  },
  "The server's own certificate; null if it cannot be parsed",
);

/** A TLS session, begun by STARTTLS or implicit. */
export const SmtpTls = record(
  {
    protocol: Nullable(text("E.g. TLSv1.3; null if the handshake did not complete")),
    cipher: Nullable(text("Cipher suite, IANA name; null if the handshake did not complete")),
    certificate: Nullable(Certificate),
    chain_length: count("Number of certificates that the server sent"),
    hostname_match: truth("The name of the tested host is among the certificate's alternative names"),
    trusted: truth("A sender that enforces MTA-STS accepts the certificate; most senders encrypt without this check"),
    error: Nullable(
      text(
        "Most severe fault of the certificate, as in trust_error of ssl (expired, self_signed, hostname_mismatch, untrusted_root, ...); null for none",
      ),
    ),
    errors: texts("All faults of the certificate, most severe first"),
    client_certificate_requested: truth("The server asked for a client certificate"),
    handshake_ms: Nullable(number("TLS handshake, in milliseconds; null if it did not complete")),
  },
  "TLS session; null if none began or the server sent no certificate",
);
