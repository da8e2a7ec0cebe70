import { casesOf, SHORT, type Case, type Row } from "#test/lab/parity/case.ts";

/** Debian's goes on for twenty seconds, long after Prometheus has given up. */
/** The exporter logs no reason for a status other than SERVING. */
const UNHEALTHY = /grpc server:" err=null/;
const RESOLVE = /Error resolving address/;

const ICMP: readonly Row[] = [
  ["127.0.0.1", "127.0.0.1", {}, "success"],
  ["127.0.0.2", "127.0.0.2", {}, "success"],
  ["localhost", "localhost", {}, "success"],
  ["ttl 1", "127.0.0.1", { ttl: 1 }, "success"],
  ["ttl 255", "127.0.0.1", { ttl: 255 }, "success"],
  ["payload_size 1", "127.0.0.1", { payload_size: 1 }, "success"],
  ["payload_size 8000", "127.0.0.1", { payload_size: 8000 }, "success"],
  ["payload_size 65507", "127.0.0.1", { payload_size: 65_507 }, "success", SHORT],
  [
    "payload_size 70000",
    "127.0.0.1",
    { payload_size: 70_000 },
    /message too long/,
    { ...SHORT, refused: "no packet is that long" },
  ],
  ["dont_fragment", "127.0.0.1", { dont_fragment: true }, "success"],
  ["dont_fragment with a payload", "127.0.0.1", { dont_fragment: true, payload_size: 1400 }, "success"],
  ["dont_fragment with ttl", "127.0.0.1", { dont_fragment: true, ttl: 9 }, "success"],
  ["a source address", "127.0.0.1", { source_ip_address: "127.0.0.2" }, "success"],
  [
    "a source address that is none",
    "127.0.0.1",
    { source_ip_address: "x" },
    /Error parsing source ip address/,
    { refused: "it is no address" },
  ],
  ["a source address of the other family", "127.0.0.1", { source_ip_address: "::1" }, /no suitable address/],
  ["ip6 preferred", "127.0.0.1", { preferred_ip_protocol: "ip6" }, "success"],
  ["ip6 alone", "127.0.0.1", { preferred_ip_protocol: "ip6", ip_protocol_fallback: false }, RESOLVE],
  ["a name that does not exist", "does-not-exist.invalid", {}, RESOLVE],
  ["a port", "127.0.0.1:80", {}, RESOLVE],
  ["a URL", "http://127.0.0.1/", {}, RESOLVE],
];

/** Cases for machines with ::1. */
const IP6: readonly Case[] = [
  { what: "icmp: ::1", module: { prober: "icmp" }, target: "::1", shows: "success" },
  { what: "icmp: ::1 with ttl", module: { prober: "icmp", icmp: { ttl: 5 } }, target: "::1", shows: "success" },
  { what: "icmp: ::1 in brackets", module: { prober: "icmp" }, target: "[::1]", shows: RESOLVE },
  {
    what: "icmp: ::1 with dont_fragment",
    module: { prober: "icmp", icmp: { dont_fragment: true } },
    target: "::1",
    shows: "success",
  },
  {
    what: "icmp: ::1 with ip4 alone",
    module: { prober: "icmp", icmp: { preferred_ip_protocol: "ip4", ip_protocol_fallback: false } },
    target: "::1",
    shows: RESOLVE,
  },
  {
    what: "icmp: ::1 with ip4 preferred",
    module: { prober: "icmp", icmp: { preferred_ip_protocol: "ip4" } },
    target: "::1",
    shows: "success",
  },
  { what: "http: ::1", module: { prober: "http" }, target: "http://{web6}/echo", shows: "success" },
  {
    what: "http: ::1 with ip4 alone",
    module: { prober: "http", http: { preferred_ip_protocol: "ip4", ip_protocol_fallback: false } },
    target: "http://{web6}/ok",
    shows: RESOLVE,
  },
  { what: "tcp: ::1", module: { prober: "tcp" }, target: "{web6}", shows: "success" },
  {
    what: "tcp: ::1 from 127.0.0.1",
    module: { prober: "tcp", tcp: { source_ip_address: "127.0.0.1" } },
    target: "{web6}",
    shows: /no suitable address/,
  },
];

const GRPC: readonly Row[] = [
  ["serving", "{grpc}", {}, "success"],
  ["serving, with a service", "{grpc}", { service: "shop.Cart" }, "success"],
  ["not serving", "{grpcdown}", {}, UNHEALTHY],
  ["SERVICE_UNKNOWN", "{grpcstrange}", {}, UNHEALTHY],
  ["UNKNOWN", "{grpcunset}", {}, UNHEALTHY],
  ["a status without a name", "{grpcodd}", {}, UNHEALTHY],
  ["a server without the service", "{grpcmissing}", {}, /code = Unimplemented/],
  ["a service that is not found", "{grpcnotfound}", { service: "no.Such" }, /code = NotFound/],
  ["UNAVAILABLE", "{grpcunavailable}", {}, /code = Unavailable/],
  ["INTERNAL", "{grpcinternal}", {}, /code = Internal/],
  ["PERMISSION_DENIED", "{grpcdenied}", {}, /code = PermissionDenied/],
  ["localhost", "localhost:{grpcport}", {}, "success"],
  ["a URL", "http://{grpc}", {}, "success"],
  ["no port", "127.0.0.1", {}, /:80: connect: connection refused/, SHORT],
  ["a refused port", "{closed}", {}, /connection refused/, SHORT],
  ["silence", "{hush}", {}, /timed out waiting for server handshake/, SHORT],
  ["a server that closes", "{hangup}", {}, /connection closed/, SHORT],
  ["HTTP/1.1", "{grpcgarbage}", {}, /connection closed/, SHORT],
  ["a name that does not exist", "does-not-exist.invalid:80", {}, RESOLVE],
  ["ip6 alone", "{grpc}", { preferred_ip_protocol: "ip6", ip_protocol_fallback: false }, RESOLVE],
  ["ip6 preferred", "{grpc}", { preferred_ip_protocol: "ip6" }, "success"],
  ["TLS", "{grpctls}", { tls: true }, "success"],
  ["TLS by name", "localhost:{grpctlsport}", { tls: true }, "success"],
  ["TLS, not serving", "{grpctlsdown}", { tls: true }, UNHEALTHY],
  ["TLS without the service", "{grpctlsmissing}", { tls: true }, /code = Unimplemented/],
  [
    "TLS with another authority",
    "{grpctls}",
    { tls: true, tls_config: { ca_file: "{strangerroot}" } },
    /unknown authority/,
    SHORT,
  ],
  [
    "TLS with a wrong name",
    "{grpctls}",
    { tls: true, tls_config: { server_name: "no.example" } },
    /certificate is valid for/,
    SHORT,
  ],
  ["TLS with a name", "{grpctls}", { tls: true, tls_config: { server_name: "site.example" } }, "success"],
  ["TLS without verification", "{grpcexpired}", { tls: true, tls_config: { insecure_skip_verify: true } }, "success"],
  ["TLS, expired", "{grpcexpired}", { tls: true }, /certificate has expired/, SHORT],
  ["TLS with a missing ca_file", "{grpctls}", { tls: true, tls_config: { ca_file: "{goneroot}" } }, /no such file/],
  ["TLS on a port without it", "{grpc}", { tls: true }, /does not look like a TLS handshake/, SHORT],
  ["no TLS on a port of TLS", "{grpctls}", {}, /connection closed/, SHORT],
  ["TLS of HTTP/1.1 alone", "{secure}", { tls: true }, /no application protocol/, SHORT],
];

const OTHER: readonly Case[] = [
  { what: "an unknown module", module: null, target: "{web}", shows: 400 },
  { what: "no target", module: { prober: "http" }, target: null, shows: 400 },
  { what: "an empty target", module: { prober: "http" }, target: "", shows: 400 },
  {
    what: "an unknown prober",
    module: { prober: "smtp" as "http" },
    target: "{web}",
    shows: 400,
    refused: "no exporter has it",
  },
  {
    what: "a limit that is no number",
    module: { prober: "tcp" },
    target: "{web}",
    seconds: "soon",
    shows: 500,
  },
  { what: "a limit of nothing", module: { prober: "tcp" }, target: "{hush}", seconds: "0", shows: "success" },
  {
    what: "a negative limit",
    module: { prober: "tcp" },
    target: "{web}",
    seconds: "-1",
    shows: /timeout/,
  },
  { what: "a limit below the offset", module: { prober: "tcp" }, target: "{web}", seconds: "0.3", shows: /timeout/ },
  {
    what: "an infinite limit",
    module: { prober: "tcp" },
    target: "{web}",
    seconds: "Inf",
    shows: /timeout/,
  },
  {
    what: "a module's timeout above the scrape's",
    module: { prober: "http", timeout: "60s" },
    target: "http://{web}/silent",
    seconds: "2",
    shows: /deadline exceeded/,
  },
];

/** Cases of the probers icmp and grpc, of requests that are refused, and where there is IPv6 of ::1. */
export const otherCases = (ipv6: boolean): readonly Case[] => [
  ...casesOf("icmp", ICMP),
  ...casesOf("grpc", GRPC),
  ...OTHER,
  ...(ipv6 ? IP6 : []),
];
