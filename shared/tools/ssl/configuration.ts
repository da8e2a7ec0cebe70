import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { count, integer, list, points, record, text, texts, truth, word } from "#shared/tools/shapes.ts";

const PROTOCOL = "TLSv1.3, TLSv1.2, TLSv1.1, TLSv1 or SSLv3";

const Cipher = Type.Object({
  protocol: text(`Version it is offered with: ${PROTOCOL}`),
  iana_name: text("IANA name"),
  openssl_name: Nullable(text("OpenSSL name; null for suites OpenSSL never had")),
  code: text("IANA number, e.g. 0xc02f"),
  bits: count("Strength of the encryption, bits; 0 for none"),
  kx: text("Key exchange: ECDHE, DHE, RSA, DH, ECDH, PSK, SRP, KRB5, GOST, ECCPWD; any in TLS 1.3"),
  auth: text("What proves the server: ECDSA, RSA, DSS, PSK, SRP, KRB5, GOST, password, none; any in TLS 1.3"),
  forward_secrecy: truth("A key that leaks later does not open today's traffic"),
  aead: truth("Authenticated encryption"),
  strength: word(
    ["strong", "acceptable", "weak", "broken"],
    "strong: forward secrecy and authenticated encryption; acceptable: forward secrecy with CBC; weak: no forward " +
      "secrecy, or blocks of 64 bits; broken: RC4, export, anonymous, unencrypted or below 112 bits",
  ),
});

const Group = Type.Object({
  name: text("Name, e.g. X25519, P-256, ffdhe2048, X25519MLKEM768"),
  code: text("IANA number, e.g. 0x001d"),
  bits: Nullable(count("Size of the curve or prime, bits; null for post-quantum groups")),
  post_quantum: truth("Keeps recorded traffic safe from quantum computers"),
  protocols: texts("Versions it was seen with: TLSv1.3 and the newest older one"),
});

const Hsts = record(
  {
    present: truth("The header was sent, with a value that can be read"),
    value: Nullable(text("The header as sent; null where absent")),
    max_age_s: Nullable(count("How long browsers keep to HTTPS, seconds; null where absent or unreadable")),
    include_subdomains: truth("Holds for subdomains too"),
    preload: truth("Asks for the browsers' preload list"),
  },
  "Strict-Transport-Security of the answer to GET / (RFC 6797)",
);

const GradeCap = Type.Object({
  grade: word(["A", "B", "C", "F", "M", "T"], "The best grade that is left"),
  reason: text("Why, one sentence"),
});

const Scores = record(
  {
    protocol: points("Versions: mean of the best and the worst offered; 30 % of the score"),
    key_exchange: points("The weakest of the key, ephemeral primes and groups, anonymous and export suites; 30 %"),
    cipher: points("Encryption: mean of the strongest and the weakest suite; 40 %"),
  },
  "Parts of the score by the SSL Labs rating guide",
);

const Offered = (version: string) => Nullable(truth(`Whether the server offers ${version}; null: could not be told`));

/** Versions, suites, groups and what else a server's configuration decides, with the grade it earns. */
export const CONFIGURATION = {
  protocols: record(
    {
      ssl3: Offered("SSL 3"),
      tls1_0: Offered("TLS 1.0"),
      tls1_1: Offered("TLS 1.1"),
      tls1_2: Offered("TLS 1.2"),
      tls1_3: Offered("TLS 1.3"),
    },
    "Protocol versions, each tested by a hello of its own",
  ),
  ciphers: Nullable(
    list(
      Cipher,
      "Cipher suites the server accepts, the newest version first, within one in the server's order of preference " +
        "where it has one, else the strongest first; null where none could be listed",
    ),
  ),
  cipher_order: Nullable(
    word(["server", "client"], "Whose order of preference decides, by the newest version before TLS 1.3, else by that"),
  ),
  groups: Nullable(list(Group, "Groups for key agreement that the server accepts; null where none could be listed")),
  dh_bits: Nullable(integer("Smallest Diffie-Hellman prime of suites before TLS 1.3, bits; null where none is used")),
  compression: Nullable(truth("The server compresses before it encrypts (CRIME); null: could not be told")),
  secure_renegotiation: Nullable(
    truth("Renegotiation by RFC 5746; null: TLS 1.3 alone, which has none, or could not be told"),
  ),
  fallback_scsv: Nullable(
    truth("Refuses clients that were pushed to a lower version (RFC 7507); null: no lower version, or not told"),
  ),
  http_alpn: Nullable(texts("HTTP versions it takes by ALPN: h2, http/1.1; null: could not be told")),
  hsts: Nullable(Hsts),
  grade: Nullable(
    word(
      ["A+", "A", "B", "C", "D", "E", "F", "T", "M"],
      "Grade by the SSL Labs rating guide, T for untrusted, M for a name mismatch; null where too little is known",
    ),
  ),
  grade_caps: list(GradeCap, "What keeps the grade down whatever the score, the hardest first"),
  score: Nullable(points("Points behind the grade; null where too little is known")),
  scores: Nullable(Scores),
  connections: count("Connections made to find out about versions, suites and groups"),
};
