/** How our exporter's answer differs where it is meant to, and why. */
export interface Difference {
  readonly reason: string;
  /** Series and families that only one has, or whose values differ. */
  readonly names: RegExp;
}

const SENT = /^probe_http_(?:last_modified|content_length|uncompressed_body_length)/;
const ANSWERED = /^(?:probe_success|probe_http_(?:content_length|status_code|uncompressed_body_length|version)) /;
const RESOLVED = /probe_(?:dns_lookup_time_seconds|http_duration_seconds|ip_addr_hash|ip_protocol)/;

const NO_LIMIT = { reason: "a limit that is none is a fault of the request: no probe is made", names: /^status: / };
const NO_HOP_LIMIT = {
  reason: "raw-socket reads no control messages, and IPv6 has its hop limit in one",
  names: /probe_icmp_reply_hop_limit/,
};
const STAYS = { reason: "another host gets no credentials and no field that can be secret", names: SENT };
const FORGED = {
  reason: "a datagram that does not repeat the question can be forged (RFC 5452): it is no answer",
  names: /^probe_(?:success|dns_answer_rrs|dns_query_succeeded) /,
};
const BOUNDED = { reason: "a head has at most 64 KB and 1,000 fields", names: ANSWERED };
const VERSION = { reason: "the version is that which the server speaks", names: /^probe_http_version / };

/** The wanted differences by the names of their cases. A case of the tables that is not here has none. */
export const WANTED: Readonly<Record<string, Difference>> = {
  "grpc: silence": { reason: "ours ends at its limit, with DEADLINE_EXCEEDED", names: /^probe_grpc_status_code/ },
  "a limit that is no number": NO_LIMIT,
  "a negative limit": NO_LIMIT,
  "an infinite limit": NO_LIMIT,
  "a limit below the offset": { reason: "all of such a limit is used: there is no other", names: /^probe_success / },
  "icmp: ::1": NO_HOP_LIMIT,
  "icmp: ::1 with ttl": NO_HOP_LIMIT,
  "icmp: ::1 with dont_fragment": NO_HOP_LIMIT,
  "icmp: ::1 with ip4 preferred": NO_HOP_LIMIT,
  "http: a name in capitals": { reason: "ours sends host names in small letters", names: SENT },
  "http: a bad port": { reason: "a URL with no such port is no URL: nothing is looked up", names: RESOLVED },
  "http: a bad escape": { reason: "such a path is sent as it is, as browsers do", names: RESOLVED },
  "http: status 099": { reason: "a status is 100 or more (RFC 9110 section 15)", names: ANSWERED },
  "http: version HTTP/2.0 in a status line": VERSION,
  "http: version HTTP/1.2": VERSION,
  "http: six 103 before the answer": { reason: "up to 32 are read past", names: ANSWERED },
  "http: a field without a colon": { reason: "it is read past, as browsers do", names: ANSWERED },
  "http: a space before a colon": { reason: "the field is read, as browsers do", names: /^probe_http_content_length / },
  "http: a field of 100 KB": BOUNDED,
  "http: 3000 fields": BOUNDED,
  "http: bearer_token to another host": STAYS,
  "http: headers to another host": STAYS,
  "http: oauth2 over redirects": STAYS,
  "http: zlib as deflate": {
    reason: "deflate is the format of zlib (RFC 9110 section 8.4.1.2)",
    names: /^probe_(?:success|http_uncompressed_body_length) /,
  },
  "http: octets after gzip": { reason: "they are ignored, as browsers do", names: /^probe_success / },
  "tcp: hostname and TLS": {
    reason: "newer exporters take hostname for the name of a certificate",
    names: /probe_(?:ssl|tls|success)/,
  },
  "dns: a wrong question before the right answer": FORGED,
  "dns: a query before the answer": FORGED,
  "dns: a header alone": FORGED,
};
