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
    key_bits: Nullable(integer("Size of the key in bits; null where it cannot be told")),
    signature_algorithm: text("Algorithm of the issuer's signature"),
    fingerprint_sha256: text("SHA-256 of the certificate, hexadecimal"),
    spki_sha256: text("SHA-256 of the public key, hexadecimal: what a TLSA record 3 1 1 holds"),
    self_signed: truth("Signed with its own key"),
  },
  "The server's own certificate; null where it cannot be read",
);

/** A TLS session, however it was begun. */
export const SmtpTls = record(
  {
    protocol: Nullable(text("E.g. TLSv1.3; null where the handshake did not complete")),
    cipher: Nullable(text("Cipher suite, IANA name; null where the handshake did not complete")),
    certificate: Nullable(Certificate),
    chain_length: count("Certificates the server sent"),
    hostname_match: truth("The name connected to is among the certificate's alternative names"),
    trusted: truth("A strict client would go on (MTA-STS); most senders encrypt without asking for that"),
    error: Nullable(
      text(
        "The gravest fault of the certificate, words of ssl's trust_error (expired, self_signed, hostname_mismatch, untrusted_root, ...); null for none",
      ),
    ),
    errors: texts("All faults of the certificate, the gravest first"),
    client_certificate_requested: truth("The server asked for a client certificate"),
    handshake_ms: Nullable(number("TLS handshake, milliseconds; null where it did not complete")),
  },
  "TLS session; null where none was begun or no certificate came",
);
