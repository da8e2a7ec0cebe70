import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import {
  findings,
  count,
  integer,
  list,
  OBSERVED_FIELDS,
  record,
  text,
  texts,
  truth,
  word,
} from "#shared/tools/shapes.ts";

function reachable(description: string) {
  return Type.Union([Type.Boolean(), Type.Literal("unknown")], { description });
}

const Attempt = Type.Object({
  name: word(
    ["default", "http/1.0", "http/1.1", "h2", "no_alpn", "h2c_upgrade", "h2c_prior_knowledge"],
    "What was tried: by ALPN, by request line, or without TLS (h2c)",
  ),
  alpn_offered: texts("ALPN names offered; none over http and where the extension was left out"),
  alpn_selected: Nullable(text("ALPN name the server chose, null for none")),
  http_version: Nullable(text("Version of the answer: 1.0, 1.1 or 2; null without one")),
  code: Nullable(integer("HTTP status of the answer, null without one")),
  reason: Nullable(text("Why there is no answer, e.g. no_application_protocol; null with one")),
  ms: count("The whole attempt, ms"),
});

const QuicProbe = Type.Object({
  source: word(["alt_svc", "https_rr", "origin"], "Where the place is advertised; origin: nowhere, the URL's own"),
  host: text("Host of the place"),
  port: integer("Its UDP port"),
  ip: Nullable(text("Address asked; null where the host has none that may be contacted")),
  reachable: reachable("A server answered; false: the port is closed; unknown: silence, or nothing could be sent"),
  rtt_ms: Nullable(Type.Number({ description: "Round trip of the answer, ms" })),
  reason: Nullable(text("Why nothing could be sent, null where something was")),
});

const H3 = record(
  {
    advertised_alt_svc: truth("An Alt-Svc of the response names h3"),
    advertised_https_rr: truth("An HTTPS record that clients can use names h3"),
    quic_reachable: reachable("A QUIC server answers at one of the places; unknown where UDP is silent"),
    quic_versions: texts("Versions that servers offer, 0x and eight hexadecimal digits, in their order"),
    quic_version_names: texts("The same versions by name"),
    probes: list(QuicProbe, "Each place asked for its QUIC versions, at each address"),
  },
  "HTTP/3 and the QUIC under it; nothing is asked over HTTP/3 itself",
);

function offered(version: string) {
  return Nullable(truth(`${version} is accepted; null where it could not be told`));
}

const Tls = record(
  {
    versions: record(
      {
        ssl3: offered("SSL 3"),
        tls1_0: offered("TLS 1.0"),
        tls1_1: offered("TLS 1.1"),
        tls1_2: offered("TLS 1.2"),
        tls1_3: offered("TLS 1.3"),
      },
      "Versions the server accepts, a ClientHello each",
    ),
    protocol: text("Version negotiated with all of them on offer, e.g. TLSv1.3"),
    cipher: text("Cipher suite negotiated, IANA name"),
    group: Nullable(text("Group of the key exchange as OpenSSL names it, e.g. X25519MLKEM768; null for none")),
    authorized: truth("The certificate is trusted for the name"),
    error: Nullable(text("Why not: expired, self_signed, hostname_mismatch, ...")),
  },
  "TLS of the URL's own port; null for http",
);

const HttpsRecord = Type.Object({
  priority: integer("SvcPriority: the lowest is tried first"),
  target: text("Host to connect to"),
  alpn: texts("Protocols there, the default http/1.1 among them unless it is excluded"),
  port: Nullable(integer("Port there; null: that of the URL")),
  ech: truth("It brings keys for Encrypted ClientHello"),
  ipv4hint: texts("IPv4 addresses to begin with"),
  ipv6hint: texts("IPv6 addresses to begin with"),
  compatible: truth("Every parameter it calls mandatory is there and known; clients ignore it otherwise"),
});

/** Which versions of HTTP a server speaks, by which way. */
export const protocol = defineTool({
  name: "protocol",
  title: "HTTP versions",
  summary:
    "HTTP/1.0, 1.1, 2 and 3 of a URL's server: what is negotiated, advertised and reachable, and the TLS under it",
  scope: "check",
  toolset: "web",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  open: { q: "url" },
  deadlineMs: () => 30_000,
  params: Type.Object({ url: Url({ description: "URL whose server is asked; redirects are not followed" }) }),
  result: Type.Object({
    url: text("URL as requested"),
    host: text("Its host"),
    port: integer("Its TCP port"),
    ip: text("Address connected to"),
    code: integer("HTTP status of the first answer"),
    location: Nullable(text("Where that answer redirects to; not followed")),
    negotiated: word(["h2", "http/1.1", "http/1.0"], "What a modern browser would speak over TCP"),
    alpn_offered: texts("ALPN names offered for that; none over http"),
    alpn_selected: Nullable(text("ALPN name the server chose; null where it has no ALPN, and over http")),
    http1_0: Nullable(truth("A request as HTTP/1.0 is answered; null where it could not be told")),
    http1_1: Nullable(truth("HTTP/1.1 is spoken; null where it could not be told")),
    h2: truth("HTTP/2 is spoken: by ALPN over https, in the clear over http"),
    h2c_upgrade: Nullable(truth("HTTP/2 by Upgrade: h2c over http; null for https, or where it could not be told")),
    h2c_prior_knowledge: Nullable(
      truth("HTTP/2 from the first octet on over http; null for https, or where it could not be told"),
    ),
    without_alpn: Nullable(
      word(["http/1.1", "http/1.0"], "What the server speaks to clients without ALPN; null for nothing, and over http"),
    ),
    h3: H3,
    tls: Nullable(Tls),
    alt_svc: list(
      Type.Object({
        alpn: text("Protocol, e.g. h3"),
        host: text("Host of the alternative"),
        port: integer("Its port"),
        max_age_s: count("Seconds it may be used without asking again; default 86400"),
        persist: truth("It outlives a change of network"),
      }),
      "Alternative services the response advertises (RFC 7838), in order of preference",
    ),
    alt_svc_clear: truth("The response withdraws all alternatives"),
    https_rr: Nullable(
      record(
        {
          name: text("Name that was asked for HTTPS records"),
          status: text("DNS status of the last question"),
          aliases: texts("Names that AliasMode records led to"),
          records: list(HttpsRecord, "Records in ServiceMode, the preferred first"),
        },
        "HTTPS records of the host (RFC 9460); null for an address",
      ),
    ),
    ech: Nullable(truth("An HTTPS record brings keys for Encrypted ClientHello; null where DNS did not answer")),
    attempts: list(Attempt, "What was tried over TCP"),
    findings: findings(),
    ...OBSERVED_FIELDS,
  }),
  across: {
    agreeOn: ({ h2, h3 }) => [h2, h3.quic_reachable],
    measure: () => ({}),
  },
});
