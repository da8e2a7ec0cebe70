import { Type } from "typebox";
import { defineTool, withDefault } from "#shared/tools/define.ts";
import { Host, Nullable } from "#shared/tools/fields.ts";
import { ServerDane } from "#shared/tools/mail-fields.ts";
import {
  ipVersion,
  count,
  findings,
  integer,
  list,
  number,
  OBSERVED_FIELDS,
  record,
  text,
  texts,
  truth,
  word,
} from "#shared/tools/shapes.ts";

const Certificate = record(
  {
    subject: text("Distinguished name of the holder (RFC 4514)"),
    issuer: text("Distinguished name of the issuer (RFC 4514)"),
    san: texts("Subject alternative names, the first 50"),
    not_before: text("Start of validity, ISO 8601 UTC"),
    not_after: text("End of validity, ISO 8601 UTC"),
    days_left: integer("Whole days until not_after, rounded down; negative when expired"),
    key_type: text("RSA, RSA-PSS, EC, Ed25519, Ed448, DSA, or unknown"),
    key_bits: Nullable(integer("Size of the key in bits; null if unknown")),
    signature_algorithm: text("Algorithm of the issuer's signature"),
    fingerprint_sha256: text("SHA-256 of the certificate, hexadecimal"),
    spki_sha256: text("SHA-256 of the public key, hexadecimal: what a TLSA record 3 1 1 holds"),
    self_signed: truth("Signed with its own key"),
  },
  "The server's own certificate; null if it cannot be parsed",
);

/** A TLS session, begun by STARTTLS or implicit. */
const SmtpTls = record(
  {
    protocol: Nullable(text("E.g. TLSv1.3; null if the handshake did not complete")),
    cipher: Nullable(text("Cipher suite, IANA name; null if the handshake did not complete")),
    certificate: Nullable(Certificate),
    chain_length: count("Number of certificates that the server sent"),
    hostname_match: truth("The name of the tested host is among the certificate's alternative names"),
    trusted: truth("A sender that enforces MTA-STS accepts the certificate; most senders encrypt without this check"),
    error: Nullable(
      text(
        "Most severe fault of the certificate, as in trust_error of ssl (expired, self_signed, hostname_mismatch, untrusted_root, ...); null for none",
      ),
    ),
    errors: texts("All faults of the certificate, most severe first"),
    client_certificate_requested: truth("The server asked for a client certificate"),
    handshake_ms: Nullable(number("TLS handshake, in milliseconds; null if it did not complete")),
  },
  "TLS session; null if none began or the server sent no certificate",
);

const FAULTS = "bare_line_feed, long_line, control_character, eight_bit, mixed_codes, line_without_code, odd_code";

const Banner = record(
  {
    code: integer("Reply code: 220 accepts the client, 421 and 554 refuse it"),
    text: text("Lines of the greeting, joined with spaces"),
    lines: texts("Lines of the greeting without codes"),
    hostname: Nullable(text("The server's own name in lower case; null if the greeting does not begin with a name")),
    esmtp: truth("The greeting contains ESMTP; a server without it can support ESMTP too"),
    software: Nullable(text("Mail server software named in the greeting, e.g. Postfix; null if it names none")),
    faults: texts(`Faults that RFC 5321 does not allow: ${FAULTS}`),
  },
  "Greeting; null if TLS failed before it",
);

const Ehlo = record(
  {
    code: integer("Reply code"),
    greeting: text("First line"),
    hostname: Nullable(text("The server's own name in the reply, lower case; null for none")),
    extensions: Type.Record(Type.String(), Type.String(), {
      description: "Extensions by keyword in upper case with their parameters; an empty text means no parameters",
    }),
    faults: texts(`Faults that RFC 5321 does not allow: ${FAULTS}`),
  },
  "Reply to EHLO; null if there was none",
);

const Plaintext = record(
  { bytes: count("Number of octets"), text: text("First octets as text") },
  "Clear text between the reply to STARTTLS and TLS, which RFC 3207 forbids: a client can mistake it for text under TLS; null for none",
);

const StartTls = record(
  {
    offered: Nullable(truth("STARTTLS is among the extensions; null without a reply to EHLO")),
    success: Nullable(truth("The handshake completed; null if it was not tried")),
    code: Nullable(integer("Reply code of STARTTLS; null if it was not sent or there was no reply")),
    text: Nullable(text("Text of the reply to STARTTLS")),
    failure: Nullable(
      record(
        {
          reason: text("timeout, closed, reset, plain_text, not_tls, an alert's name, ..., as in error.reason"),
          message: text("The reason in a sentence"),
        },
        "Why the handshake failed; null if it did not fail",
      ),
    ),
    plaintext_after_reply: Nullable(Plaintext),
    tls: Nullable(SmtpTls),
  },
  "STARTTLS (RFC 3207). tls also describes the session of a port with implicit TLS",
);

const Exchanger = record(
  { host: text("Host name without final dot"), priority: count("Preference, lowest first") },
  "One MX record",
);

const Attempt = record(
  {
    host: text("Host name or address"),
    ip: Nullable(text("Address; null if the name has no allowed address")),
    result: text(
      "connected, or the reason of the failure: refused, timeout, unreachable, reset, nxdomain, no_address, target_not_allowed, ...",
    ),
  },
  "One connection attempt",
);

const Line = record(
  {
    at_ms: number("Milliseconds since the connection was established"),
    from: word(["server", "client", "probe"], "Sender of the line; probe: an event such as the TLS handshake"),
    text: text("One printable line, cut at 400 characters"),
  },
  "One line of the transcript",
);

const phase = (what: string) => Nullable(number(`${what}, in milliseconds; null if the test did not get there`));

/** Contract of smtp-test, which checks a mail server's greeting, extensions and TLS. */
export const smtpTest = defineTool({
  name: "smtp-test",
  title: "SMTP test",
  summary: "Greeting, extensions, STARTTLS and certificate of a mail server, without sending any mail",
  scope: "dns",
  toolset: "mail",
  target: { param: "target", kind: "host", connects: true },
  example: { target: "example.com" },
  deadlineMs: () => 30_000,
  params: Type.Object({
    target: Host({ description: "Mail domain, whose best MX is tested, or a mail server's name or address" }),
    port: withDefault(
      Type.Integer({
        minimum: 1,
        maximum: 65_535,
        description: "TCP port: 25 between servers, 587 submission, 465 submission with implicit TLS",
      }),
      25,
    ),
  }),
  result: Type.Object({
    target: text("Requested target: lower-case A-labels or an IP literal"),
    mx_used: Nullable(text("Tested mail host without final dot; null if the target has no MX records")),
    mx_records: list(Exchanger, "MX records of the target, lowest preference first, the first 20"),
    attempts: list(Attempt, "Connection attempts in order; the next address is tried only if connecting fails"),
    ip: text("Address of the tested server"),
    ip_version: ipVersion(),
    port: integer("TCP port of the tested server"),
    implicit_tls: truth("TLS began before the greeting (RFC 8314)"),
    banner: Nullable(Banner),
    ehlo: Nullable(Ehlo),
    ehlo_tls: Nullable(Ehlo),
    helo_only: truth("The server refused EHLO and accepted HELO, as servers from before 1995 do"),
    starttls: StartTls,
    pipelining: Nullable(truth("PIPELINING is offered (RFC 2920); null without a reply to EHLO")),
    size_limit_bytes: Nullable(count("Largest message by SIZE, in bytes; null without a limit")),
    auth_mechanisms: texts("AUTH mechanisms, before and after TLS"),
    auth_before_tls: Nullable(
      truth(
        "AUTH is offered without TLS, so passwords can be read in transit; null without a reply to EHLO before TLS",
      ),
    ),
    ptr: Nullable(
      text("Reverse name of the address, a confirmed one if there is one; null if there is none or the lookup failed"),
    ),
    has_ptr: Nullable(truth("The address has a reverse name; null if the lookup failed")),
    fcrdns: Nullable(truth("The reverse name resolves to the address; null without a name or an answer")),
    ptr_match: Nullable(
      truth("The reverse name is the server's own name in its greeting or reply to EHLO; null if a name is unknown"),
    ),
    dane: Nullable(ServerDane),
    open_relay: Nullable(truth("Always null: a test would have to send mail, which this check never does")),
    timings_ms: record(
      {
        connect: number("TCP connection, in milliseconds; includes 1 s for each lost SYN that was sent again"),
        banner: phase("Wait for the greeting, which follows implicit TLS"),
        ehlo: phase("EHLO until the reply"),
        starttls: phase("STARTTLS until the handshake completed, or implicit TLS"),
        ehlo_tls: phase("EHLO under TLS until the reply"),
        total: number("The whole check, in milliseconds"),
      },
      "Time of each step",
    ),
    findings: findings(),
    transcript: list(Line, "Transcript of the conversation, the first 150 lines"),
    ...OBSERVED_FIELDS,
  }),
  across: {
    agreeOn: ({ banner, starttls }) => [
      banner?.code ?? null,
      starttls.offered,
      starttls.tls?.certificate?.fingerprint_sha256 ?? null,
    ],
    measure: ({ timings_ms: { connect, banner } }) => ({ connect_ms: connect, banner_ms: banner }),
  },
});
