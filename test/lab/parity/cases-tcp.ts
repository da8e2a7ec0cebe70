import { casesOf, SHORT, type Case, type Row } from "#test/lab/parity/case.ts";

const steps = (...query_response: readonly object[]) => ({ query_response });
const expect = (text: string) => ({ expect: text });
const send = (text: string) => ({ send: text });
const HELLO = [expect("^220 "), send("EHLO me"), expect("^250 STARTTLS"), send("STARTTLS")];
const UNMATCHED = /Regexp did not match/;
const LATE = /(?:i\/o timeout|deadline exceeded|Error reading)/;

const ROWS: readonly Row[] = [
  ["an open port", "{web}", {}, "success"],
  ["localhost", "localhost:{webport}", {}, "success"],
  ["a refused port", "{closed}", {}, /connection refused/],
  ["a filtered port", "{filtered}", {}, /timeout/, SHORT],
  ["no port", "127.0.0.1", {}, /Error splitting target/],
  ["an empty port", "127.0.0.1:", {}, /:0: connect: connection refused/],
  ["a named port", "127.0.0.1:discard", {}, /:9: connect: connection refused/],
  ["a port out of range", "127.0.0.1:70000", {}, /invalid port/],
  ["an address without brackets", "::1:80", {}, /Error splitting target/],
  ["a URL", "http://{web}/", {}, /too many colons/],
  ["an empty host", ":{webport}", {}, /no such host/],
  ["a name that does not exist", "does-not-exist.invalid:80", {}, /Error resolving address/],
  ["ip6 preferred", "{web}", { preferred_ip_protocol: "ip6" }, "success"],
  ["ip6 alone", "{web}", { preferred_ip_protocol: "ip6", ip_protocol_fallback: false }, /Error resolving address/],
  ["ip4 alone", "{web}", { ip_protocol_fallback: false }, "success"],
  [
    "localhost with ip6 alone",
    "localhost:{webport}",
    { preferred_ip_protocol: "ip6", ip_protocol_fallback: false },
    /Error resolving address/,
  ],
  ["a source address", "{web}", { source_ip_address: "127.0.0.2" }, "success"],
  [
    "a source address that is not here",
    "{web}",
    { source_ip_address: "198.51.100.7" },
    /cannot assign requested address/,
  ],
  [
    "a source address that is none",
    "{web}",
    { source_ip_address: "nothing" },
    /Error parsing source ip address/,
    { refused: "it is no address" },
  ],
  ["a greeting", "{ssh}", steps(expect("^SSH-2.0-")), "success"],
  [
    "a captured text of a named group",
    "{echo}",
    steps(send("USER x"), { expect: "^:(?P<who>[a-z]+) 001", send: "ECHO ${who}!" }, expect("^echoed: server!$")),
    "success",
  ],
  [
    "captured texts of two groups",
    "{echo}",
    steps(
      send("USER x"),
      { expect: "^:([a-z]+) ([0-9]+)", send: "ECHO $2 $1x ${1}x $9 $$" },
      expect("^:"),
      expect("^echoed: 020  serverx  [$]$"),
    ),
    "success",
  ],
  [
    "a captured text of a line that is no UTF-8",
    "{echo}",
    steps(send("BINARY"), { expect: "^(.*) binary$", send: "ECHO $1" }, expect("^echoed: ..$")),
    "success",
  ],
  [
    "a captured text of an earlier step",
    "{echo}",
    steps(send("USER x"), expect("^:([a-z]+) 020"), send("ECHO a"), expect("a"), send("ECHO $1"), expect("server")),
    LATE,
    SHORT,
  ],
  ["a greeting that does not match", "{ssh}", steps(expect("^220 ")), LATE, SHORT],
  ["a dialogue", "{irc}", steps(send("USER prober"), expect("^:[^ ]+ 001"), send("PING 1"), expect("PONG")), "success"],
  ["lines that are skipped", "{irc}", steps(send("USER prober"), expect("welcome")), "success"],
  ["a server that closes", "{irc}", steps(send("BYE"), expect("x")), UNMATCHED],
  ["a server that closes after the answer", "{irc}", steps(send("PING"), expect("^PONG"), send("more")), "success"],
  [
    "a server that closes when more is expected",
    "{irc}",
    steps(send("PING"), expect("^PONG"), expect("more")),
    UNMATCHED,
  ],
  ["a server that resets", "{irc}", steps(send("RESET"), expect("x")), /reset by peer/],
  ["a server that closes at once", "{hangup}", steps(expect("x")), UNMATCHED],
  ["a server that says nothing", "{hush}", steps(expect("x")), LATE, SHORT],
  ["a line of 100 KB", "{irc}", steps(send("LONG"), expect("z$")), /token too long/, SHORT],
  ["a line without its end", "{irc}", steps(send("HALF"), expect("^no line end$")), "success"],
  ["octets that are no UTF-8", "{irc}", steps(send("BINARY"), expect("binary$")), "success"],
  ["empty lines", "{irc}", steps(send("EMPTY"), expect("^$"), expect("^third$")), "success"],
  ["a CR within a line", "{irc}", steps(send("CR"), expect("^one\\rtwo$")), "success"],
  ["an empty step", "{web}", steps({}), "success"],
  ["nothing but send", "{irc}", steps(send("GET / HTTP/1.0"), send("")), "success"],
  [
    "send and expect in one step",
    "{irc}",
    steps({ send: "USER x" }, { expect: "001", send: "PING" }, expect("PONG")),
    "success",
  ],
  [
    "starttls",
    "{smtp}",
    steps(...HELLO, expect("^220"), { starttls: true }, send("EHLO me"), expect("^250-"), send("QUIT")),
    "success",
    {},
  ],
  ["starttls that is refused", "{smtpplain}", steps(...HELLO, expect("^220"), { starttls: true }), LATE, SHORT],
  [
    "starttls to a server that goes on in plain text",
    "{smtpfalse}",
    steps(...HELLO, expect("^220"), { starttls: true }),
    /TLS Handshake \(client\) failed/,
    SHORT,
  ],
  [
    "starttls and then silence",
    "{smtp}",
    steps(...HELLO, expect("^220"), { starttls: true }, expect("x")),
    LATE,
    SHORT,
  ],
  [
    "a dialogue over TLS",
    "{tlsdialogue}",
    { tls: true, ...steps(expect("IMAP"), send("a1 LOGOUT"), expect("^a1 OK")) },
    "success",
  ],
  ["a dialogue over TLS that does not match", "{tlsdialogue}", { tls: true, ...steps(expect("POP3")) }, LATE, SHORT],
  ["TLS by name", "localhost:{secureport}", { tls: true }, "success"],
  ["TLS on a port without it", "{ssh}", { tls: true }, /does not look like a TLS handshake/],
  ["TLS on a port that says nothing", "{hush}", { tls: true }, /deadline exceeded/, SHORT],
  ["TLS on a refused port", "{closed}", { tls: true }, /connection refused/],
  ["no TLS on a port of TLS", "{secure}", steps(send("hello"), expect("x")), UNMATCHED, SHORT],
];

const TLS_NAMES = { tls_config: { server_name: "site.example" } };

/** Cases of the prober tcp. */
export const TCP_CASES: readonly Case[] = [
  ...casesOf("tcp", ROWS),
  {
    what: "tcp: starttls with a name",
    module: { prober: "tcp", tcp: { ...TLS_NAMES, ...steps(...HELLO, expect("^220"), { starttls: true }) } },
    target: "{smtp}",
    shows: "success",
  },
  {
    what: "tcp: the timeout of the module",
    module: { prober: "tcp", timeout: "1s", tcp: steps(expect("x")) },
    target: "{hush}",
    shows: LATE,
  },
  {
    what: "tcp: a module without options",
    module: { prober: "tcp" },
    target: "{web}",
    shows: "success",
  },
  {
    what: "tcp: hostname and TLS",
    module: { prober: "tcp", tcp: { tls: true } },
    target: "{wrongname}",
    query: { hostname: "other.example" },
    shows: /doesn't contain any IP SANs/,
  },
];
