import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Lines, Nullable } from "#shared/tools/fields.ts";
import {
  Alignment,
  ArcChain,
  Auth,
  AuthenticationResults,
  DkimSignature,
  ReceivedSpf,
  SpfNow,
} from "#shared/tools/email-header/authentication.ts";
import { MAX_HEADERS_BYTES } from "#shared/tools/email-header/limits.ts";
import { TRACE_FIELDS } from "#shared/tools/email-header/trace.ts";
import {
  count,
  findings,
  list,
  number,
  OBSERVED_FIELDS,
  record,
  text,
  texts,
  truth,
  word,
} from "#shared/tools/shapes.ts";

const EXAMPLE = [
  "Received: from mail.example.com (mail.example.com [192.0.2.1]) by mx.example.net with ESMTPS id a1;",
  " Tue, 02 Jan 2024 10:00:05 +0000",
  "Authentication-Results: mx.example.net; spf=pass smtp.mailfrom=example.com",
  "Date: Tue, 02 Jan 2024 10:00:00 +0000",
  "From: =?utf-8?Q?Andr=C3=A9?= <andre@example.com>",
  "To: you@example.net",
  "Message-ID: <1@example.com>",
  "Subject: Hello",
].join("\r\n");

const Address = record(
  {
    field: text("Field it stands in, e.g. from"),
    name: Nullable(text("Display name, decoded")),
    address: text("Address without white space and comments; empty for <>"),
    domain: Nullable(text("Domain, lower case; null where there is none")),
    group: Nullable(text("Group it stands in, e.g. undisclosed-recipients")),
  },
  "One address",
);

const ListUnsubscribe = record(
  {
    https: texts("Web addresses that unsubscribe"),
    http: texts("The same without TLS"),
    mailto: texts("Mail addresses that unsubscribe"),
    one_click: truth("One POST is enough: an https address and List-Unsubscribe-Post (RFC 8058)"),
    one_click_signed: truth("A DKIM signature covers both fields, as RFC 8058 section 4 asks"),
  },
  "How to leave the list (RFC 2369, RFC 8058); null without List-Unsubscribe",
);

const SpamHeader = record(
  {
    name: text("Field"),
    value: text("Its value"),
    verdict: Nullable(word(["spam", "ham"], "What the filter says; null where the field does not say")),
    score: Nullable(number("The filter's score, on its own scale")),
    threshold: Nullable(number("From which score on it is spam, where the field says")),
  },
  "One field of a spam filter",
);

const ContentType = record(
  {
    value: text("Media type, lower case"),
    parameters: list(
      record({ name: text("Name, lower case"), value: text("Value, decoded (RFC 2231)") }, "One parameter"),
      "Parameters, continuations joined",
    ),
  },
  "Content-Type; null without one",
);

/** Raw message headers, explained. */
export const emailHeader = defineTool({
  name: "email-header",
  title: "Email header analysis",
  summary:
    "Route and delays of a message, its SPF, DKIM, DMARC and ARC results beside what SPF says today, and what is wrong",
  scope: "dns",
  toolset: "mail",
  target: null,
  example: { headers: EXAMPLE },
  deadlineMs: () => 30_000,
  params: Type.Object({
    headers: Lines({
      minLength: 1,
      maxLength: MAX_HEADERS_BYTES,
      description: "Raw headers of a message, or the whole message; at most 256 KB. A body is not looked at",
    }),
  }),
  refine: ({ headers }) =>
    Buffer.byteLength(headers) > MAX_HEADERS_BYTES
      ? { field: "headers", reason: "range", message: `must have at most ${MAX_HEADERS_BYTES} octets` }
      : null,
  result: Type.Object({
    from: Nullable(text("From, decoded")),
    to: Nullable(text("To, decoded")),
    cc: Nullable(text("Cc, decoded")),
    subject: Nullable(text("Subject, decoded")),
    date: Nullable(text("Date, ISO 8601 UTC; null without one that can be read")),
    message_id: Nullable(text("Message-ID with its angle brackets")),
    reply_to: Nullable(text("Reply-To, decoded")),
    sender: Nullable(text("Sender, decoded")),
    return_path: Nullable(text("Address in Return-Path; <> for the empty one of bounces")),
    addresses: list(Address, "Addresses of From, Sender, Reply-To, To and Cc, in this order"),
    content_type: Nullable(ContentType),
    ...TRACE_FIELDS,
    auth: Auth,
    authentication_results: list(AuthenticationResults, "All Authentication-Results fields, the newest first"),
    received_spf: list(ReceivedSpf, "Received-SPF fields, the newest first"),
    spf_now: Nullable(SpfNow),
    alignment: Alignment,
    dkim_signatures: list(DkimSignature, "DKIM-Signature fields, the newest first"),
    arc_chain: Nullable(ArcChain),
    list_unsubscribe: Nullable(ListUnsubscribe),
    spam_headers: list(SpamHeader, "Fields of spam filters, the newest first"),
    findings: findings(
      "What is wrong or odd, worst first; where is the field, the signature (DKIM-Signature 1 is the newest) or the ARC set",
    ),
    headers: list(
      record({ name: text("Name as written"), value: text("Value, unfolded and decoded") }, "One field"),
      "All fields, the newest first; cut where they are very many",
    ),
    header_count: count("Fields of the message"),
    size_bytes: count("Size of what was given, bytes as UTF-8"),
    line_endings: word(["crlf", "lf", "cr", "mixed", "none"], "What ends the lines"),
    mbox_from: Nullable(text('The "From " line of an mbox file, null without one')),
    has_body: truth("A body followed, which was not looked at"),
    ...OBSERVED_FIELDS,
  }),
});
