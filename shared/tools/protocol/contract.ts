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
    "Attempt: by ALPN, by request line, or without TLS (h2c)",
  ),
  alpn_offered: texts("ALPN names offered; empty over http, or if the extension was omitted"),
  alpn_selected: Nullable(text("ALPN name that the server selected; null if none")),
  http_version: Nullable(text("Version of the answer: 1.0, 1.1 or 2; null without an answer")),
  code: Nullable(integer("HTTP status of the answer; null without an answer")),
  reason: Nullable(text("Why there is no answer, e.g. no_application_protocol; null if there is one")),
  ms: count("Time of the whole attempt in milliseconds"),
});

const QuicProbe = Type.Object({
  source: word(
    ["alt_svc", "https_rr", "origin"],
    "Source of host and port; origin: those of the URL, without an advertisement",
  ),
  host: text("Host that was probed"),
  port: integer("UDP port that was probed"),
  ip: Nullable(text("Address that was probed; null if none is allowed to be contacted")),
  reachable: reachable("A server answered; false: the port is closed; unknown: no answer, or nothing could be sent"),
  rtt_ms: Nullable(Type.Number({ description: "Round-trip time of the answer in milliseconds" })),
  reason: Nullable(text("Why nothing could be sent; null if a probe was sent")),
});

const H3 = record(
  {
    advertised_alt_svc: truth("An Alt-Svc of the response advertises h3"),
    advertised_https_rr: truth("An HTTPS record that clients can use advertises h3"),
    quic_reachable: reachable(
      "A QUIC server answers at one of the probed places; unknown if there is no answer over UDP",
    ),
    quic_versions: texts("Versions that servers offer, 0x and eight hexadecimal digits, in their order"),
    quic_version_names: texts("The same versions by name"),
    probes: list(QuicProbe, "QUIC version probes, one for each place and address"),
  },
  "HTTP/3 and its QUIC; no request is sent over HTTP/3",
);

function offered(version: string) {
  return Nullable(truth(`${version} is accepted; null if unknown`));
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
      "Versions that the server accepts, each tested with a separate ClientHello",
    ),
    protocol: text("Version negotiated if all are offered, e.g. TLSv1.3"),
    cipher: text("Cipher suite negotiated, IANA name"),
    group: Nullable(text("Group of the key exchange, OpenSSL's name, e.g. X25519MLKEM768; null if none")),
    authorized: truth("The certificate is trusted for the host"),
    error: Nullable(text("Why it is not trusted: expired, self_signed, hostname_mismatch, ...; null if trusted")),
  },
  "TLS at the URL's port; null for http",
);

const HttpsRecord = Type.Object({
  priority: integer("SvcPriority: the lowest is tried first"),
  target: text("Host to connect to"),
  alpn: texts("Protocols of the target, including the default http/1.1 unless it is excluded"),
  port: Nullable(integer("Port of the target; null: that of the URL")),
  ech: truth("Has keys for Encrypted ClientHello"),
  ipv4hint: texts("IPv4 addresses that clients can try first"),
  ipv6hint: texts("IPv6 addresses that clients can try first"),
  compatible: truth("All mandatory parameters are present and known; otherwise clients ignore the record"),
});

/** HTTP versions that a server supports, and how they are negotiated. */
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
  params: Type.Object({ url: Url({ description: "URL of the server to check; redirects are not followed" }) }),
  result: Type.Object({
    url: text("URL as requested"),
    host: text("Host of the URL"),
    port: integer("TCP port of the URL"),
    ip: text("Address of the connection"),
    code: integer("HTTP status of the first answer"),
    location: Nullable(text("Redirect target of that answer, which is not followed; null if none")),
    negotiated: word(["h2", "http/1.1", "http/1.0"], "HTTP version that a modern browser uses over TCP"),
    alpn_offered: texts("ALPN names offered for this negotiation; empty over http"),
    alpn_selected: Nullable(text("ALPN name that the server selected; null without ALPN and over http")),
    http1_0: Nullable(truth("HTTP/1.0 requests are answered; null if unknown")),
    http1_1: Nullable(truth("HTTP/1.1 is supported; null if unknown")),
    h2: truth("HTTP/2 is supported: by ALPN over https, unencrypted over http"),
    h2c_upgrade: Nullable(truth("HTTP/2 by Upgrade: h2c over http; null for https, or if unknown")),
    h2c_prior_knowledge: Nullable(
      truth("HTTP/2 with prior knowledge (from the first octet) over http; null for https, or if unknown"),
    ),
    without_alpn: Nullable(
      word(["http/1.1", "http/1.0"], "HTTP version for clients without ALPN; null if none, and over http"),
    ),
    h3: H3,
    tls: Nullable(Tls),
    alt_svc: list(
      Type.Object({
        alpn: text("Protocol, e.g. h3"),
        host: text("Host of the alternative"),
        port: integer("Port of the alternative"),
        max_age_s: count("Time in seconds for which it is valid; default 86400"),
        persist: truth("Remains valid after a change of network"),
      }),
      "Alternative services that the response advertises (RFC 7838), in order of preference",
    ),
    alt_svc_clear: truth("The response withdraws all alternatives"),
    https_rr: Nullable(
      record(
        {
          name: text("Name of the HTTPS records"),
          status: text("DNS status of the last query"),
          aliases: texts("Targets of AliasMode records"),
          records: list(HttpsRecord, "Records in ServiceMode, in order of preference"),
        },
        "HTTPS records of the host (RFC 9460); null for an address",
      ),
    ),
    ech: Nullable(truth("An HTTPS record has keys for Encrypted ClientHello; null if DNS did not answer")),
    attempts: list(Attempt, "Attempts over TCP"),
    findings: findings(),
    ...OBSERVED_FIELDS,
  }),
  across: {
    agreeOn: ({ h2, h3 }) => [h2, h3.quic_reachable],
    measure: () => ({}),
  },
});
