import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { count, integer, text, texts, truth, word } from "#shared/tools/shapes.ts";
import { Scts } from "#shared/tools/ssl/status.ts";

const Key = Type.Object(
  {
    type: text("RSA, RSA-PSS, EC, Ed25519, Ed448, DSA, or unknown"),
    bits: Nullable(Type.Integer({ description: "Size in bits; null if unknown" })),
    curve: Nullable(text("Named curve of an EC key, e.g. P-256; null for other keys")),
  },
  { description: "Public key" },
);

const COMMON = {
  subject: text("Distinguished name of the holder (RFC 4514)"),
  issuer: text("Distinguished name of the issuer (RFC 4514)"),
  common_name: Nullable(text("CN of the subject; never used as a host name")),
  serial: text("Serial number, hexadecimal"),
  fingerprint_sha256: text("SHA-256 of the certificate, hexadecimal"),
  key: Key,
  signature_algorithm: text("Algorithm of the issuer's signature, e.g. ecdsa-with-SHA256"),
  not_before: text("Start of validity, ISO 8601 UTC"),
  not_after: text("End of validity, ISO 8601 UTC"),
  days_left: integer("Whole days until not_after, rounded down; negative when expired"),
  self_signed: truth("Signed with its own key"),
};

/** Schema of the server's own certificate. */
export const Certificate = Type.Object(
  {
    ...COMMON,
    organization: Nullable(text("O of the subject")),
    issuer_common_name: Nullable(text("CN of the issuer")),
    issuer_organization: Nullable(text("O of the issuer")),
    san: texts("Subject alternative names: DNS names and addresses; other kinds as kind:value"),
    san_total: count("Number of names; san is truncated if there are very many"),
    wildcard: truth("One of the DNS names is a wildcard"),
    fingerprint_sha1: text("SHA-1 of the certificate, hexadecimal"),
    spki_sha256: text(
      "SHA-256 of the public key (SubjectPublicKeyInfo), hexadecimal; unchanged if a new certificate keeps the key",
    ),
    lifetime_days: integer("Time from not_before to not_after in days, rounded"),
    must_staple: truth("Clients must require a stapled OCSP response (RFC 7633)"),
    key_usage: Nullable(texts("Key usages by RFC 5280 names; null if not limited")),
    ext_key_usage: Nullable(texts("Extended key usages by name or OID; null if not limited")),
    policies: Nullable(
      word(["dv", "ov", "ev"], "Validation by the CA/Browser Forum's policy OIDs: dv, ov, ev; null if there is none"),
    ),
    policy_oids: texts("Certificate policy OIDs"),
    ocsp_urls: texts("URLs of OCSP responders"),
    crl_urls: texts("URLs of revocation lists"),
    ca_issuers: texts("URLs of the issuer's certificate; the check does not fetch it, because many clients do not"),
    scts: Scts,
  },
  { description: "The server's own certificate: the first one sent" },
);

/** Schema of one certificate of the chain. */
export const ChainRow = Type.Object({
  position: Nullable(Type.Integer({ description: "Position in the order sent, 0 = first; null if not sent" })),
  role: word(
    ["leaf", "intermediate", "root", "extra"],
    "leaf, intermediate, root, or extra: sent but not part of the chain, or a repeat",
  ),
  sent: truth("Sent by the server; false for a root from the probe's list"),
  ...COMMON,
});

/** Schema of another certificate of the server, for clients that accept other keys. */
export const OtherCertificate = Type.Object({
  ...COMMON,
  trusted: truth("A current browser connects, as for the first certificate"),
  trust_error: Nullable(text("Most severe reason not to trust it, as in the result's trust_error; null if trusted")),
});
