import { SHORT, type Case } from "#test/lab/parity/case.ts";

type More = Partial<Omit<Case, "what" | "module" | "target" | "shows">>;
type Row = readonly [what: string, options: object, shows: Case["shows"], target?: string, more?: More];

const NAME = { query_name: "site.example" };
const of = (query_type: string, query_name = "site.example") => ({ query_name, query_type });
const named = (label: string) => of("A", `${label}.example`);
const RCODE = /Rcode is not one of the valid rcodes/;
const QUERY = /Error while sending a DNS query/;
const SECTIONS = ["answer", "authority", "additional"] as const;
const KINDS = [
  "fail_if_matches_regexp",
  "fail_if_all_match_regexp",
  "fail_if_not_matches_regexp",
  "fail_if_none_matches_regexp",
] as const;
/** Matches every record of glue.example, one of two records where there are two, or none. */
const EXPRESSIONS = { all: "example", one: "\\tns\\.glue|^ns\\.glue|NS\\tns\\.glue", none: "nothing" };
/** By kind. fail_if_all_match_regexp fails unless all match: its name says the opposite of what the exporter does. */
const FAILS = {
  all: [true, false, false, false],
  one: [true, true, true, false],
  none: [false, true, true, true],
} as const;
const validated = (section: string, kind: string, ...expressions: readonly string[]) => ({
  [`validate_${section}_rrs`]: { [kind]: expressions },
});

const VALIDATORS: readonly Row[] = SECTIONS.flatMap((section) =>
  (["all", "one", "none"] as const).flatMap((matches) =>
    KINDS.map((kind, index): Row => {
      // The answer has one record, so that one is all.
      const shown = section === "answer" && matches === "one" ? "all" : matches;
      return [
        `${kind} of the ${section} section, ${matches} matching`,
        { ...of("NS", "glue.example"), ...validated(section, kind, EXPRESSIONS[matches]) },
        FAILS[shown][index] === true ? /RRs? validation failed/ : "success",
      ];
    }),
  ),
);

const ROWS: readonly Row[] = [
  ...["A", "AAAA", "MX", "SOA", "TXT", "NS", "CAA", "ANY", "CNAME"].flatMap((type): Row[] => [
    [`${type} over UDP`, of(type), "success"],
    [`${type} over TCP`, { ...of(type), transport_protocol: "tcp" }, "success"],
  ]),
  ["SRV", of("SRV", "_sip._tcp.site.example"), "success"],
  ["the default type", NAME, "success"],
  ["an alias", of("A", "alias.site.example"), "success"],
  ["two SOA records", of("SOA", "soa2.site.example"), "success"],
  ["an authoritative server", of("SOA"), "success", "{authoritative}"],
  ["a name with a final dot", of("A", "site.example."), "success"],
  ["a name in capitals", of("A", "SITE.Example"), "success"],
  ["a name with an escape", of("A", "a\\.b.site.example"), RCODE],
  [
    "a name with a label of 64 octets",
    of("A", `${"a".repeat(64)}.example`),
    QUERY,
    "{dns}",
    { refused: "it is no name" },
  ],
  ["the root's NS", of("NS", "."), "success"],
  ["the root's SOA", of("SOA", "."), "success"],
  ["class CH", { ...of("TXT"), query_class: "CH" }, "success"],
  ["class ANY", { ...of("A"), query_class: "ANY" }, "success"],
  ["the query itself", of("SOA", "echo.example"), "success"],
  ["the query itself over TCP", { ...of("SOA", "echo.example"), transport_protocol: "tcp" }, "success"],
  ["the query itself without recursion", { ...of("SOA", "echo.example"), recursion_desired: false }, "success"],
  ["NXDOMAIN", of("A", "gone.site.example"), RCODE],
  ["NXDOMAIN that is valid", { ...of("A", "gone.site.example"), valid_rcodes: ["NXDOMAIN"] }, "success"],
  ["NOERROR that is not valid", { ...of("A"), valid_rcodes: ["NXDOMAIN"] }, RCODE],
  ["SERVFAIL", named("servfail"), RCODE],
  ["SERVFAIL that is valid", { ...named("servfail"), valid_rcodes: ["NOERROR", "SERVFAIL"] }, "success"],
  ["REFUSED", named("refused"), RCODE],
  ["NOTIMP", named("notimp"), RCODE],
  ["FORMERR", named("formerr"), RCODE],
  ["YXDOMAIN that is valid", { ...named("yxdomain"), valid_rcodes: ["YXDOMAIN"] }, "success"],
  ["a truncated answer", named("truncated"), "success"],
  ["a large answer over UDP", of("TXT", "big.site.example"), "success"],
  ["a large answer over TCP", { ...of("TXT", "big.site.example"), transport_protocol: "tcp" }, "success"],
  ["silence", named("silent"), QUERY, "{dns}", SHORT],
  ["silence over TCP", { ...named("silent"), transport_protocol: "tcp" }, QUERY, "{dns}", SHORT],
  ["a port that answers nothing", of("A"), QUERY, "{udpsilent}", SHORT],
  ["a refused port", of("A"), QUERY, "{closed}"],
  ["a refused port over TCP", { ...of("A"), transport_protocol: "tcp" }, /connection refused/, "{closed}"],
  ["an answer with a wrong id before the right one", named("wrongid"), "success", "{dns}", SHORT],
  ["an answer with a wrong id", named("onlywrongid"), QUERY, "{dns}", SHORT],
  ["a wrong id over TCP", { ...named("onlywrongid"), transport_protocol: "tcp" }, /id mismatch/, "{dns}", SHORT],
  ["a wrong question before the right answer", named("wrongquestion"), RCODE, "{dns}", SHORT],
  ["a query before the answer", named("query"), RCODE, "{dns}", SHORT],
  ["garbage", named("garbage"), QUERY, "{dns}", SHORT],
  ["garbage over TCP", { ...named("garbage"), transport_protocol: "tcp" }, QUERY, "{dns}", SHORT],
  ["a compression loop", named("loop"), /compression pointers/, "{dns}", SHORT],
  ["counts that lie", named("counts"), "success", "{dns}", SHORT],
  ["a short message", named("short"), /short read/, "{dns}", SHORT],
  ["a header alone", named("header"), "success", "{dns}", SHORT],
  ["octets after the message", named("trailing"), "success", "{dns}", SHORT],
  ["a question in small letters", of("A", "Lower.Example"), "success"],
  ["a server that closes over TCP", { ...of("A"), transport_protocol: "tcp" }, QUERY, "{tcpclosing}"],
  ["an empty message over TCP", { ...of("A"), transport_protocol: "tcp" }, QUERY, "{tcpzero}"],
  ["a message that breaks off over TCP", { ...of("A"), transport_protocol: "tcp" }, QUERY, "{tcpcut}"],
  ["HTTP over TCP", { ...of("A"), transport_protocol: "tcp" }, QUERY, "{tcptext}", SHORT],
  ["a name as the server", of("A"), "success", "localhost:{dnsport}"],
  ["no port", of("A"), QUERY, "127.0.0.3"],
  ["no port over TCP", { ...of("A"), transport_protocol: "tcp" }, QUERY, "127.0.0.3"],
  ["a server that does not exist", of("A"), /Error resolving address/, "does-not-exist.invalid"],
  ["ip6 preferred", { ...of("A"), preferred_ip_protocol: "ip6" }, "success"],
  ["ip6 alone", { ...of("A"), preferred_ip_protocol: "ip6", ip_protocol_fallback: false }, /Error resolving address/],
  ["a source address", { ...of("A"), source_ip_address: "127.0.0.2" }, "success"],
  [
    "a source address that is none",
    { ...of("A"), source_ip_address: "x" },
    /Error parsing source ip address/,
    "{dns}",
    { refused: "it is no address" },
  ],
  ...VALIDATORS,
  [
    "two expressions of which one fails",
    { ...of("A"), ...validated("answer", "fail_if_not_matches_regexp", "198", "^x") },
    /validation failed/,
  ],
  [
    "a validator of an empty section",
    { ...of("HINFO"), ...validated("answer", "fail_if_not_matches_regexp", "x") },
    /no RRs returned/,
  ],
  [
    "fail_if_none_matches_regexp of an empty section",
    { ...of("CNAME"), ...validated("answer", "fail_if_none_matches_regexp", "x") },
    /no RRs returned/,
  ],
  [
    "fail_if_all_match_regexp of an empty section",
    { ...of("CNAME"), ...validated("answer", "fail_if_all_match_regexp", "x") },
    "success",
  ],
  ...[
    ["A", "^site\\.example\\.\\t300\\tIN\\tA\\t198\\.51\\.100\\.[12]$"],
    ["AAAA", "^site\\.example\\.\\t300\\tIN\\tAAAA\\t2001:db8::1$"],
    ["MX", "\\tIN\\tMX\\t[12]0 mail2?\\.site\\.example\\.$"],
    ["TXT", '\\tTXT\\t("v=spf1 -all"|"two" "parts")$'],
    ["SOA", "\\tSOA\\tns\\.site\\.example\\. h\\.site\\.example\\. 42 3600 600 86400 300$"],
    ["CAA", '\\tCAA\\t0 issue "ca\\.example"$'],
  ].map(
    ([type = "", regexp = ""]): Row => [
      `the text of ${type} records`,
      { ...of(type), ...validated("answer", "fail_if_not_matches_regexp", regexp) },
      "success",
    ],
  ),
];

const DOT = { transport_protocol: "tcp", dns_over_tls: true };
const OVER_TLS: readonly Row[] = [
  ["good", {}, "success", "{dot}"],
  ["by name", {}, "success", "localhost:{dotport}"],
  ["a wrong name", { tls_config: { server_name: "other.example" } }, /certificate is valid/, "{dot}"],
  [
    "a wrong name without verification",
    { tls_config: { server_name: "o.example", insecure_skip_verify: true } },
    "success",
    "{dot}",
  ],
  ["another authority", { tls_config: { ca_file: "{strangerroot}" } }, /unknown authority/, "{dot}"],
  ["an expired certificate", {}, /certificate has expired/, "{expired}"],
  ["no TLS", {}, QUERY, "{dns}", SHORT],
  ["silence", {}, QUERY, "{tls_hanging}", SHORT],
  ["a refused port", {}, /connection refused/, "{closed}"],
  ["no port", {}, /connection refused/, "127.0.0.3"],
];

/** Cases of the prober dns. */
export const DNS_CASES: readonly Case[] = [
  ...ROWS.map(
    ([what, options, shows, target = "{dns}", more = {}]): Case => ({
      what: `dns: ${what}`,
      module: { prober: "dns", dns: { preferred_ip_protocol: "ip4", ...options } },
      target,
      shows,
      ...more,
    }),
  ),
  ...OVER_TLS.map(
    ([what, options, shows, target = "{dot}", more = {}]): Case => ({
      what: `dns over TLS: ${what}`,
      module: { prober: "dns", dns: { preferred_ip_protocol: "ip4", ...of("SOA"), ...DOT, ...options } },
      target,
      shows,
      ...more,
    }),
  ),
];
