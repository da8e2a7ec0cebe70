import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { count, integer, list, points, record, text, texts, truth, word } from "#shared/tools/shapes.ts";

const PROTOCOL = "TLSv1.3, TLSv1.2, TLSv1.1, TLSv1 or SSLv3";

const Cipher = Type.Object({
  protocol: text(`Version that it is offered with: ${PROTOCOL}`),
  iana_name: text("IANA name"),
  openssl_name: Nullable(text("OpenSSL name; null for suites that OpenSSL never had")),
  code: text("IANA number, e.g. 0xc02f"),
  bits: count("Strength of the encryption in bits; 0 without encryption"),
  kx: text("Key exchange: ECDHE, DHE, RSA, DH, ECDH, PSK, SRP, KRB5, GOST, ECCPWD; any in TLS 1.3"),
  auth: text("Server authentication: ECDSA, RSA, DSS, PSK, SRP, KRB5, GOST, password, none; any in TLS 1.3"),
  forward_secrecy: truth("A key that leaks later cannot decrypt today's traffic"),
  aead: truth("Authenticated encryption"),
  strength: word(
    ["strong", "acceptable", "weak", "broken"],
    "strong: forward secrecy and authenticated encryption; acceptable: forward secrecy with CBC; weak: no forward " +
      "secrecy, or 64-bit blocks; broken: RC4, export, anonymous, unencrypted or below 112 bits",
  ),
});

const Group = Type.Object({
  name: text("Name, e.g. X25519, P-256, ffdhe2048, X25519MLKEM768"),
  code: text("IANA number, e.g. 0x001d"),
  bits: Nullable(count("Size of the curve or prime in bits; null for post-quantum groups")),
  post_quantum: truth("Recorded traffic is safe from future quantum computers"),
  protocols: texts("Versions that accept it; only TLSv1.3 and the newest older version are tested"),
});

const Hsts = record(
  {
    present: truth("The header was sent with a readable value"),
    value: Nullable(text("The header as sent; null if absent")),
    max_age_s: Nullable(count("Time in seconds for which browsers use only HTTPS; null if absent or unreadable")),
    include_subdomains: truth("Applies to subdomains too"),
    preload: truth("Requests inclusion in the browsers' preload list"),
  },
  "Strict-Transport-Security in the answer to GET / (RFC 6797); null if not applicable or unknown",
);

const GradeCap = Type.Object({
  grade: word(["A", "B", "C", "F", "M", "T"], "Best grade that is possible"),
  reason: text("Why, in one sentence"),
});

const Scores = record(
  {
    protocol: points("Versions: mean of the best and the worst offered; 30 % of the score"),
    key_exchange: points("Weakest of key, ephemeral primes and groups, anonymous and export suites; 30 %"),
    cipher: points("Encryption: mean of the strongest and the weakest suite; 40 %"),
  },
  "Parts of the score by the SSL Labs rating guide",
);

const Offered = (version: string) => Nullable(truth(`Whether the server offers ${version}; null if unknown`));

/** Fields of the ssl tool's result about versions, suites, groups, other settings and the grade. */
export const CONFIGURATION = {
  protocols: record(
    {
      ssl3: Offered("SSL 3"),
      tls1_0: Offered("TLS 1.0"),
      tls1_1: Offered("TLS 1.1"),
      tls1_2: Offered("TLS 1.2"),
      tls1_3: Offered("TLS 1.3"),
    },
    "Protocol versions, each tested with a separate ClientHello",
  ),
  ciphers: Nullable(
    list(
      Cipher,
      "Cipher suites that the server accepts, newest version first; within a version in the server's order of " +
        "preference, or the strongest first if that order is unknown or the client's decides; null if none could be " +
        "listed",
    ),
  ),
  cipher_order: Nullable(
    word(
      ["server", "client"],
      "Whose order of preference decides, with the newest version before TLS 1.3 or else with TLS 1.3; null if unknown",
    ),
  ),
  groups: Nullable(list(Group, "Groups for key agreement that the server accepts; null if none could be listed")),
  dh_bits: Nullable(integer("Smallest Diffie-Hellman prime of suites before TLS 1.3 in bits; null if none was seen")),
  compression: Nullable(truth("The server compresses before it encrypts (CRIME); null if unknown")),
  secure_renegotiation: Nullable(
    truth("Supports secure renegotiation (RFC 5746); null if only TLS 1.3 is offered, which has none, or if unknown"),
  ),
  fallback_scsv: Nullable(
    truth("Refuses clients that were forced to a lower version (RFC 7507); null if no lower version, or unknown"),
  ),
  http_alpn: Nullable(texts("HTTP versions that the server accepts by ALPN: h2, http/1.1; null if unknown")),
  hsts: Nullable(Hsts),
  grade: Nullable(
    word(
      ["A+", "A", "B", "C", "D", "E", "F", "T", "M"],
      "Grade by the SSL Labs rating guide, T for untrusted, M for a name mismatch; null if too little is known",
    ),
  ),
  grade_caps: list(GradeCap, "Limits of the grade regardless of the score, lowest grade first"),
  score: Nullable(points("Points that the grade is based on; null if too little is known")),
  scores: Nullable(Scores),
  connections: count("Number of connections made to test versions, suites and groups"),
};
