import type { AnomalyId } from "#probe-agent/analysis/mail/email-headers/rows.ts";

/** Advice on a kind of anomaly. `how` is null if no change is needed. */
interface AnomalyAdvice {
  readonly how: string | null;
  readonly reference: string | null;
}

const RFC_5322 = "https://www.rfc-editor.org/rfc/rfc5322";
const RFC_2047 = "https://www.rfc-editor.org/rfc/rfc2047";
const RFC_6376 = "https://www.rfc-editor.org/rfc/rfc6376";
const FIELDS = `${RFC_5322}#section-3.6`;
const IMPOSTOR =
  "Treat the message as forged: follow no link in it and do not answer, until the sender confirms it another way.";
const SENDING_CLOCK = "Synchronise the clock of the sending host (NTP) and check its time zone.";
const SENDER_ENCODES = "Have the sending program encode the text as in RFC 2047, e.g. =?utf-8?Q?Andr=C3=A9?=.";
const SENDER_WRITES = 'Have the sending program write the field as in RFC 5322, e.g. From: "Name" <user@example.com>.';

/** Advice for each kind: for the reader of a forged message, or for the sender of a malformed message. */
export const ANOMALY_ADVICE: Readonly<Record<AnomalyId, AnomalyAdvice>> = {
  missing_from: {
    how: "Have the sending program add one From field; receivers refuse mail without it.",
    reference: FIELDS,
  },
  missing_date: {
    how: "Have the sending program add a Date field, e.g. Date: Tue, 02 Jan 2024 10:00:00 +0000",
    reference: FIELDS,
  },
  missing_message_id: {
    how: "Have the sending program add a Message-ID field of the form <unique@host.example>.",
    reference: `${RFC_5322}#section-3.6.4`,
  },
  missing_received: {
    how: "Paste the headers as the receiving mailbox shows them (show original, view source).",
    reference: "https://www.rfc-editor.org/rfc/rfc5321#section-4.4",
  },
  duplicate_field: {
    how: "Have the sending program write the field once. In a received message, trust neither value: filters and readers may see different ones.",
    reference: FIELDS,
  },
  malformed_message_id: {
    how: "Have the sending program write the Message-ID as <left@right>.",
    reference: `${RFC_5322}#section-3.6.4`,
  },
  control_characters: {
    how: "Have the sending program remove control characters from header fields.",
    reference: `${RFC_5322}#section-2.2`,
  },
  eight_bit: { how: SENDER_ENCODES, reference: "https://www.rfc-editor.org/rfc/rfc6532#section-3" },
  invisible_characters: { how: IMPOSTOR, reference: "https://www.unicode.org/reports/tr36/" },
  malformed_encoded_word: { how: SENDER_ENCODES, reference: `${RFC_2047}#section-2` },
  encoded_word_in_quotes: {
    how: "Have the sending program write encoded words outside quotation marks.",
    reference: `${RFC_2047}#section-5`,
  },
  unclosed_syntax: { how: SENDER_WRITES, reference: `${RFC_5322}#section-3.4` },
  malformed_address: { how: SENDER_WRITES, reference: `${RFC_5322}#section-3.4` },
  obsolete_route: {
    how: "Have the sending program write the address without a route: <user@example.com>.",
    reference: `${RFC_5322}#section-4.4`,
  },
  mixed_line_endings: {
    how: "Have the sending program end every line with CRLF.",
    reference: `${RFC_5322}#section-2.1`,
  },
  long_line: {
    how: "Have the sending program fold fields at 78 characters; a line can have up to 998.",
    reference: `${RFC_5322}#section-2.1.1`,
  },
  malformed_line: {
    how: "Have the sending program indent continued lines with a space, or paste the headers again, unchanged.",
    reference: `${RFC_5322}#section-2.2.3`,
  },
  obsolete_syntax: {
    how: "Have the sending program write fields without white space before the colon and without blank continuation lines.",
    reference: `${RFC_5322}#section-4.5`,
  },
  empty_from: { how: IMPOSTOR, reference: `${RFC_5322}#section-3.6.2` },
  several_from: {
    how: "Have the sending program add a Sender field with the one address that sent the message.",
    reference: `${RFC_5322}#section-3.6.2`,
  },
  return_path_mismatch: {
    how: "No change is needed for a mailing service. To pass DMARC by SPF, send with an envelope sender in the domain of From.",
    reference: "https://www.rfc-editor.org/rfc/rfc9989",
  },
  reply_to_mismatch: {
    how: "Check the address before you reply: replies leave the domain that the message claims to be from.",
    reference: `${RFC_5322}#section-3.6.2`,
  },
  display_name_is_address: { how: IMPOSTOR, reference: null },
  domain_mixed_scripts: { how: IMPOSTOR, reference: "https://www.unicode.org/reports/tr39/" },
  domain_latin_look_alikes: { how: IMPOSTOR, reference: "https://www.unicode.org/reports/tr39/" },
  domain_invisible_characters: { how: IMPOSTOR, reference: "https://www.unicode.org/reports/tr36/" },
  malformed_date: {
    how: "Have the sending program write the date as in Date: Tue, 02 Jan 2024 10:00:00 +0000",
    reference: `${RFC_5322}#section-3.3`,
  },
  wrong_weekday: {
    how: "Have the sending program compute the day of the week from the date, or leave it out.",
    reference: `${RFC_5322}#section-3.3`,
  },
  future_date: { how: SENDING_CLOCK, reference: `${RFC_5322}#section-3.6.1` },
  future_hop: {
    how: "Synchronise the clock of the host that wrote the field (NTP). If the host is not yours, distrust the field.",
    reference: "https://www.rfc-editor.org/rfc/rfc5321#section-4.4",
  },
  negative_delay: {
    how: "Synchronise the clocks of both hosts (NTP). If the hosts are not yours, distrust the older field.",
    reference: "https://www.rfc-editor.org/rfc/rfc5321#section-4.4",
  },
  undated_hop: {
    how: "Have the host write a date after the last semicolon of its Received field.",
    reference: "https://www.rfc-editor.org/rfc/rfc5321#section-4.4",
  },
  slow_hop: {
    how: "Check the log of the host before that hop for deferrals, e.g. greylisting (451) or a full queue.",
    reference: "https://www.rfc-editor.org/rfc/rfc6647",
  },
  date_after_first_hop: { how: SENDING_CLOCK, reference: `${RFC_5322}#section-3.6.1` },
  old_date: {
    how: "Check the clock of the sending host, and whether the message waited before it was sent.",
    reference: `${RFC_5322}#section-3.6.1`,
  },
  many_hops: {
    how: "Look for a forwarding rule that sends the message back to a host it has passed.",
    reference: "https://www.rfc-editor.org/rfc/rfc5321#section-6.3",
  },
  dmarc_fail: {
    how: "As the sender: sign with DKIM in the domain of From, or send with an envelope sender of that domain from a host that its SPF record allows. As the reader: do not trust the sender in From.",
    reference: "https://www.rfc-editor.org/rfc/rfc9989",
  },
  spf_fail: {
    how: "If the host is one of yours, add it to the domain's SPF record, e.g. ip4:<address> before all; spf_now has the record.",
    reference: "https://www.rfc-editor.org/rfc/rfc7208#section-2.6.4",
  },
  spf_softfail: {
    how: "If the host is one of yours, add it to the domain's SPF record, e.g. ip4:<address> before all; spf_now has the record.",
    reference: "https://www.rfc-editor.org/rfc/rfc7208#section-2.6.5",
  },
  dkim_fail: {
    how: "Check the keys with dkim (domain d=, selector s=), and check whether a host on the route changes the message after signing.",
    reference: `${RFC_6376}#section-6.1`,
  },
  authserv_id_foreign: {
    how: "Trust only results that your own mail provider wrote. Paste the headers as its mailbox shows them.",
    reference: "https://www.rfc-editor.org/rfc/rfc8601#section-7.1",
  },
  results_not_counted: { how: null, reference: "https://www.rfc-editor.org/rfc/rfc8601#section-5" },
  arc_broken: {
    how: "Have the host that sealed last add all three ARC fields, and seal a broken chain with cv=fail.",
    reference: "https://www.rfc-editor.org/rfc/rfc8617#section-5.2",
  },
  dkim_expired: {
    how: "Sign with a later x=, or without x=; a week covers mail that waits in queues.",
    reference: `${RFC_6376}#section-3.5`,
  },
  dkim_partial_body: {
    how: "Sign without l=, so that the signature covers the whole body.",
    reference: `${RFC_6376}#section-8.2`,
  },
  dkim_issues: {
    how: "Correct the signing program's configuration as described in the message.",
    reference: `${RFC_6376}#section-3.5`,
  },
};
