import { Type } from "typebox";
import { defineTool, withDefault } from "#shared/tools/define.ts";
import { Host, Nullable } from "#shared/tools/fields.ts";
import { ServerDane } from "#shared/tools/mail/fields.ts";
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
import { SmtpTls } from "#shared/tools/smtp-test/tls.ts";

const FAULTS = "bare_line_feed, long_line, control_character, eight_bit, mixed_codes, line_without_code, odd_code";

const Banner = record(
  {
    code: integer("Reply code: 220 is a welcome, 421 and 554 are refusals"),
    text: text("Its lines joined with blanks"),
    lines: texts("Its lines without codes"),
    hostname: Nullable(text("Name the server gives itself, lower case; null where the greeting begins with none")),
    esmtp: truth("The greeting says ESMTP; servers may speak it all the same"),
    software: Nullable(text("Mail server by its own words, e.g. Postfix; null where it does not say")),
    faults: texts(`What RFC 5321 does not allow in it: ${FAULTS}`),
  },
  "Greeting; null where TLS failed before it",
);

const Ehlo = record(
  {
    code: integer("Reply code"),
    greeting: text("First line"),
    hostname: Nullable(text("Name the server gives itself there, lower case; null for none")),
    extensions: Type.Record(Type.String(), Type.String(), {
      description: "Extensions by keyword in upper case with their parameters, empty text for none",
    }),
    faults: texts(`What RFC 5321 does not allow in it: ${FAULTS}`),
  },
  "Answer to EHLO; null where none came",
);

const Plaintext = record(
  { bytes: count("How many octets"), text: text("Their beginning as text") },
  "Clear text between the answer to STARTTLS and TLS, which nobody may send (RFC 3207): a client that reads it as said under TLS can be misled; null for none",
);

const StartTls = record(
  {
    offered: Nullable(truth("STARTTLS is among the extensions; null where EHLO gave no answer")),
    success: Nullable(truth("The handshake completed; null where it was not tried")),
    code: Nullable(integer("Reply code of STARTTLS; null where it was not sent or not answered")),
    text: Nullable(text("Its text")),
    failure: Nullable(
      record(
        {
          reason: text("timeout, closed, reset, plain_text, not_tls, an alert's name, ..., as in error.reason"),
          message: text("The same in a sentence"),
        },
        "Why the handshake failed; null where it did not",
      ),
    ),
    plaintext_after_reply: Nullable(Plaintext),
    tls: Nullable(SmtpTls),
  },
  "STARTTLS (RFC 3207). tls also describes the session of a port with TLS from the start",
);

const Exchanger = record(
  { host: text("Host name without final dot"), priority: count("Preference, the lowest first") },
  "One MX record",
);

const Attempt = record(
  {
    host: text("Host name or address"),
    ip: Nullable(text("Address; null where the name has none that may be used")),
    result: text(
      "connected, or why not: refused, timeout, unreachable, reset, nxdomain, no_address, target_not_allowed, ...",
    ),
  },
  "One try",
);

const Line = record(
  {
    at_ms: number("Milliseconds since the connection stood"),
    from: word(["server", "client", "probe"], "server and client: what was said; probe: what happened"),
    text: text("One line, printable, cut at 400 characters"),
  },
  "One line",
);

const phase = (what: string) => Nullable(number(`${what}, milliseconds; null where it did not come to that`));

/** A mail server's greeting, extensions and TLS. */
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
        description: "TCP port: 25 between servers, 587 submission, 465 TLS at once",
      }),
      25,
    ),
  }),
  result: Type.Object({
    target: text("As asked for: lower-case A-labels or an IP literal"),
    mx_used: Nullable(text("Mail host connected to, without final dot; null where the target has no MX records")),
    mx_records: list(Exchanger, "MX records of the target, best first, the first 20"),
    attempts: list(Attempt, "Addresses tried in order; the next one only where connecting failed"),
    ip: text("Address connected to"),
    ip_version: ipVersion(),
    port: integer("TCP port connected to"),
    implicit_tls: truth("TLS came before the greeting (RFC 8314)"),
    banner: Nullable(Banner),
    ehlo: Nullable(Ehlo),
    ehlo_tls: Nullable(Ehlo),
    helo_only: truth("EHLO was refused and HELO was not: a server from before 1995"),
    starttls: StartTls,
    pipelining: Nullable(truth("PIPELINING is offered (RFC 2920); null where EHLO gave no answer")),
    size_limit_bytes: Nullable(count("Largest message by SIZE, bytes; null where no limit is stated")),
    auth_mechanisms: texts("AUTH mechanisms, before and after TLS"),
    auth_before_tls: Nullable(
      truth(
        "AUTH is offered without TLS: passwords could be read on the way; null where EHLO gave no answer in the clear",
      ),
    ),
    ptr: Nullable(
      text("Reverse name of the address, a confirmed one if any is; null where there is none or nobody answered"),
    ),
    has_ptr: Nullable(truth("The address has a reverse name; null where nobody answered")),
    fcrdns: Nullable(truth("That name leads back to the address; null without a name or an answer")),
    ptr_match: Nullable(truth("It is the name in the greeting or the answer to EHLO; null where one is not known")),
    dane: Nullable(ServerDane),
    open_relay: Nullable(truth("Always null: telling would take a mail that is not ours to send")),
    timings_ms: record(
      {
        connect: number("TCP connection, milliseconds; a SYN that was lost and sent again after 1 s is part of it"),
        banner: phase("Until the greeting, after TLS where that comes first"),
        ehlo: phase("EHLO until its answer"),
        starttls: phase("STARTTLS until TLS stood, or TLS at the start"),
        ehlo_tls: phase("EHLO under TLS until its answer"),
        total: number("The whole check, milliseconds"),
      },
      "How long each step took",
    ),
    findings: findings(),
    transcript: list(Line, "What was said, the first 150 lines"),
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
