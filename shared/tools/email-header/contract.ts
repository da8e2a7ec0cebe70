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
  integer,
} from "#shared/tools/shapes.ts";

const Tls = record(
  {
    version: Nullable(text("E.g. TLSv1.3; null if only the name of the protocol indicates TLS")),
    cipher: Nullable(text("Cipher suite as the server names it")),
    bits: Nullable(integer("Strength of the encryption in bits, as the server states it")),
  },
  "TLS between the two hosts as the receiving host recorded it; null if it recorded none, although TLS may have been used",
);

const Geo = record(
  {
    country: Nullable(text("ISO 3166-1 alpha-2")),
    city: Nullable(text("English name")),
    asn: Nullable(integer("Number of the autonomous system that announces the address")),
    as_name: Nullable(text("Name of its holder")),
  },
  "Location and network of the address from the operator's databases; null without them and for private addresses",
);

/** One Received field. */
const Hop = record(
  {
    n: count("Number of the hop, 1 = the oldest"),
    from: Nullable(text("HELO or EHLO name of the sending host, which the receiver did not verify")),
    rdns: Nullable(
      text("Reverse name that the receiving host found for the sender's address; null if it recorded none"),
    ),
    ip: Nullable(text("Address of the sending host as the receiving host saw it")),
    ip_type: Nullable(word(["public", "private"], "public: an address of the internet; private: any other")),
    by: Nullable(text("Receiving host")),
    via: Nullable(text("Link, e.g. Frontend Transport")),
    with: Nullable(text("Protocol, e.g. ESMTPS")),
    id: Nullable(text("Id of the message at the receiving host")),
    for: Nullable(text("Recipient; null if the host recorded none")),
    envelope_from: Nullable(text("Envelope sender; null if the host recorded none")),
    authenticated: truth("The host recorded that the sender logged in"),
    tls: Nullable(Tls),
    timestamp: Nullable(
      text("Time when the host received the message, ISO 8601 UTC; null if the date is absent or cannot be parsed"),
    ),
    delay_s: Nullable(
      integer(
        "Seconds since the nearest older hop with a date; negative if the clocks of the hosts differ; null for the first hop",
      ),
    ),
    ip_geo: Nullable(Geo),
  },
  "One Received field",
);

/** Result fields on the route and the delays of a message. */
const TRACE_FIELDS = {
  hops: list(Hop, "Received fields, oldest first; fields older than the first trusted host may be forged"),
  hop_count: count("Number of Received fields of the message; hops can be shorter"),
  total_delay_s: Nullable(
    integer(
      "Seconds from the oldest to the newest hop with a date; negative if clocks differ; null with fewer than two dates",
    ),
  ),
  arrival: record(
    {
      time: Nullable(text("ISO 8601 UTC")),
      source: word(
        ["received", "mbox", "date", "now"],
        "received: the newest hop with a date that is not in the future; mbox: the From line of an mbox file; date: the Date field; now: no date is known, so the time of this analysis is used",
      ),
    },
    "Time when the message arrived. The times of its signatures and its Date are compared with it",
  ),
  date_to_first_hop_s: Nullable(
    integer("Seconds from the Date field to the oldest hop with a date; negative if the sender's clock is ahead"),
  ),
  slowest_hop: Nullable(integer("n of the hop with the largest delay_s above 0; null if there is none")),
  tls_pct: Nullable(number("Percentage of the hops between two hosts that record TLS; null without such hops")),
  originating_ip: Nullable(
    text("Public address in the oldest hop that has one; only as reliable as the host that recorded it"),
  ),
};

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
    field: text("Field of the address, e.g. from"),
    name: Nullable(text("Display name, decoded")),
    address: text("Address without white space and comments; empty for <>"),
    domain: Nullable(text("Domain in lower case; null if there is none")),
    group: Nullable(text("Group of the address, e.g. undisclosed-recipients; null for none")),
  },
  "One address",
);

const ListUnsubscribe = record(
  {
    https: texts("Web addresses that unsubscribe"),
    http: texts("Web addresses without TLS that unsubscribe"),
    mailto: texts("Mail addresses that unsubscribe"),
    one_click: truth("One POST is enough: an https address and List-Unsubscribe-Post (RFC 8058)"),
    one_click_signed: truth("A DKIM signature covers both fields, as RFC 8058 section 4 requires"),
  },
  "Ways to unsubscribe (RFC 2369, RFC 8058); null without List-Unsubscribe",
);

const SpamHeader = record(
  {
    name: text("Name of the field"),
    value: text("Value of the field"),
    verdict: Nullable(word(["spam", "ham"], "Result of the filter; null if the field has none")),
    score: Nullable(number("Score on the filter's own scale; null if the field has none")),
    threshold: Nullable(number("Score from which mail is spam; null if the field has none")),
  },
  "One field of a spam filter",
);

const ContentType = record(
  {
    value: text("Media type in lower case"),
    parameters: list(
      record({ name: text("Name in lower case"), value: text("Value, decoded (RFC 2231)") }, "One parameter"),
      "Parameters, continuations joined",
    ),
  },
  "Content-Type; null without one",
);

/** Contract of email-header, which explains raw message headers. */
export const emailHeader = defineTool({
  name: "email-header",
  title: "Email header analysis",
  summary:
    "Route and delays of a message, its SPF, DKIM, DMARC and ARC results, today's SPF result, and faults of its headers",
  scope: "dns",
  toolset: "mail",
  target: null,
  example: { headers: EXAMPLE },
  deadlineMs: () => 30_000,
  params: Type.Object({
    headers: Lines({
      minLength: 1,
      maxLength: MAX_HEADERS_BYTES,
      description: "Raw headers of a message, or the whole message; up to 256 KB. A body is ignored",
    }),
  }),
  refine: ({ headers }) =>
    Buffer.byteLength(headers) > MAX_HEADERS_BYTES
      ? { field: "headers", reason: "range", message: `must have ${MAX_HEADERS_BYTES} octets or fewer` }
      : null,
  result: Type.Object({
    from: Nullable(text("From, decoded")),
    to: Nullable(text("To, decoded")),
    cc: Nullable(text("Cc, decoded")),
    subject: Nullable(text("Subject, decoded")),
    date: Nullable(text("Date, ISO 8601 UTC; null if it is absent or cannot be parsed")),
    message_id: Nullable(text("Message-ID with its angle brackets")),
    reply_to: Nullable(text("Reply-To, decoded")),
    sender: Nullable(text("Sender, decoded")),
    return_path: Nullable(text("Address in Return-Path; <> for the empty address of bounces")),
    addresses: list(Address, "Addresses of From, Sender, Reply-To, To and Cc, in this order"),
    content_type: Nullable(ContentType),
    ...TRACE_FIELDS,
    auth: Auth,
    authentication_results: list(AuthenticationResults, "All Authentication-Results fields, newest first"),
    received_spf: list(ReceivedSpf, "Received-SPF fields, newest first"),
    spf_now: Nullable(SpfNow),
    alignment: Alignment,
    dkim_signatures: list(DkimSignature, "DKIM-Signature fields, newest first"),
    arc_chain: Nullable(ArcChain),
    list_unsubscribe: Nullable(ListUnsubscribe),
    spam_headers: list(SpamHeader, "Fields of spam filters, newest first"),
    findings: findings(
      "Faults and oddities, most severe first; where is the field, the signature (DKIM-Signature 1 is the newest) or the ARC set",
    ),
    headers: list(
      record({ name: text("Name, verbatim"), value: text("Value, unfolded and decoded") }, "One field"),
      "All fields, newest first; a very long list is cut",
    ),
    header_count: count("Number of fields of the message"),
    size_bytes: count("Size of the input in bytes of UTF-8"),
    line_endings: word(["crlf", "lf", "cr", "mixed", "none"], "Line endings of the input"),
    mbox_from: Nullable(text('The "From " line of an mbox file, null without one')),
    has_body: truth("The input has a body, which was ignored"),
    ...OBSERVED_FIELDS,
  }),
});
