import type { AdviceTable } from "#probe-agent/analysis/text/findings.ts";

const RFC_5322 = "https://www.rfc-editor.org/rfc/rfc5322";
const RFC_2047 = "https://www.rfc-editor.org/rfc/rfc2047";
const RFC_6376 = "https://www.rfc-editor.org/rfc/rfc6376";
const FIELDS = `${RFC_5322}#section-3.6`;
const SPF_RESULTS = "https://www.rfc-editor.org/rfc/rfc7208#section-2.6";
const IMPOSTOR =
  "Treat the message as forged: follow no link in it and do not answer, until the sender confirms it another way.";
const SENDING_CLOCK = "Synchronise the clock of the sending host (NTP) and check its time zone.";
const SENDER_ENCODES = "Have the sending program encode the text as in RFC 2047, e.g. =?utf-8?Q?Andr=C3=A9?=.";
const SENDER_WRITES = 'Have the sending program write the field as in RFC 5322, e.g. From: "Name" <user@example.com>.';

/**
 * Severity and advice for each kind of anomaly: for the reader of a forged message, or for the sender of a malformed
 * message.
 */
export const ANOMALY_ADVICE = {
  missing_from: {
    severity: "critical",
    how: "Have the sending program add one From field; receivers refuse mail without it.",
    reference: FIELDS,
  },
  missing_date: {
    severity: "warning",
    how: "Have the sending program add a Date field, e.g. Date: Tue, 02 Jan 2024 10:00:00 +0000",
    reference: FIELDS,
  },
  missing_message_id: {
    severity: "warning",
    how: "Have the sending program add a Message-ID field of the form <unique@host.example>.",
    reference: `${RFC_5322}#section-3.6.4`,
  },
  missing_received: {
    severity: "info",
    how: "Paste the headers as the receiving mailbox shows them (show original, view source).",
    reference: "https://www.rfc-editor.org/rfc/rfc5321#section-4.4",
  },
  duplicate_field: {
    severity: "warning",
    how: "Have the sending program write the field once. In a received message, trust neither value: filters and readers may see different ones.",
    reference: FIELDS,
  },
  malformed_message_id: {
    severity: "info",
    how: "Have the sending program write the Message-ID as <left@right>.",
    reference: `${RFC_5322}#section-3.6.4`,
  },
  control_characters: {
    severity: "warning",
    how: "Have the sending program remove control characters from header fields.",
    reference: `${RFC_5322}#section-2.2`,
  },
  eight_bit: { severity: "info", how: SENDER_ENCODES, reference: "https://www.rfc-editor.org/rfc/rfc6532#section-3" },
  invisible_characters: { severity: "warning", how: IMPOSTOR, reference: "https://www.unicode.org/reports/tr36/" },
  malformed_encoded_word: { severity: "info", how: SENDER_ENCODES, reference: `${RFC_2047}#section-2` },
  encoded_word_in_quotes: {
    severity: "info",
    how: "Have the sending program write encoded words outside quotation marks.",
    reference: `${RFC_2047}#section-5`,
  },
  unclosed_syntax: { severity: "warning", how: SENDER_WRITES, reference: `${RFC_5322}#section-3.4` },
  malformed_address: { severity: "info", how: SENDER_WRITES, reference: `${RFC_5322}#section-3.4` },
  obsolete_route: {
    severity: "info",
    how: "Have the sending program write the address without a route: <user@example.com>.",
    reference: `${RFC_5322}#section-4.4`,
  },
  mixed_line_endings: {
    severity: "info",
    how: "Have the sending program end every line with CRLF.",
    reference: `${RFC_5322}#section-2.1`,
  },
  long_line: {
    severity: "info",
    how: "Have the sending program fold fields at 78 characters; a line can have up to 998.",
    reference: `${RFC_5322}#section-2.1.1`,
  },
  malformed_line: {
    severity: "warning",
    how: "Have the sending program indent continued lines with a space, or paste the headers again, unchanged.",
    reference: `${RFC_5322}#section-2.2.3`,
  },
  obsolete_syntax: {
    severity: "info",
    how: "Have the sending program write fields without white space before the colon and without blank continuation lines.",
    reference: `${RFC_5322}#section-4.5`,
  },
  empty_from: { severity: "critical", how: IMPOSTOR, reference: `${RFC_5322}#section-3.6.2` },
  several_from: {
    severity: "warning",
    how: "Have the sending program add a Sender field with the one address that sent the message.",
    reference: `${RFC_5322}#section-3.6.2`,
  },
  return_path_mismatch: {
    severity: "info",
    how: "No change is needed for a mailing service. To pass DMARC by SPF, send with an envelope sender in the domain of From.",
    reference: "https://www.rfc-editor.org/rfc/rfc9989",
  },
  reply_to_mismatch: {
    severity: "warning",
    how: "Check the address before you reply: replies leave the domain that the message claims to be from.",
    reference: `${RFC_5322}#section-3.6.2`,
  },
  display_name_is_address: { severity: "critical", how: IMPOSTOR, reference: null },
  domain_mixed_scripts: { severity: "critical", how: IMPOSTOR, reference: "https://www.unicode.org/reports/tr39/" },
  domain_latin_look_alikes: { severity: "critical", how: IMPOSTOR, reference: "https://www.unicode.org/reports/tr39/" },
  domain_invisible_characters: {
    severity: "critical",
    how: IMPOSTOR,
    reference: "https://www.unicode.org/reports/tr36/",
  },
  malformed_date: {
    severity: "warning",
    how: "Have the sending program write the date as in Date: Tue, 02 Jan 2024 10:00:00 +0000",
    reference: `${RFC_5322}#section-3.3`,
  },
  wrong_weekday: {
    severity: "warning",
    how: "Have the sending program compute the day of the week from the date, or leave it out.",
    reference: `${RFC_5322}#section-3.3`,
  },
  future_date: { severity: "warning", how: SENDING_CLOCK, reference: `${RFC_5322}#section-3.6.1` },
  future_hop: {
    severity: "warning",
    how: "Synchronise the clock of the host that wrote the field (NTP). If the host is not yours, distrust the field.",
    reference: "https://www.rfc-editor.org/rfc/rfc5321#section-4.4",
  },
  negative_delay: {
    severity: "warning",
    how: "Synchronise the clocks of both hosts (NTP). If the hosts are not yours, distrust the older field.",
    reference: "https://www.rfc-editor.org/rfc/rfc5321#section-4.4",
  },
  undated_hop: {
    severity: "info",
    how: "Have the host write a date after the last semicolon of its Received field.",
    reference: "https://www.rfc-editor.org/rfc/rfc5321#section-4.4",
  },
  slow_hop: {
    severity: "info",
    how: "Check the log of the host before that hop for deferrals, e.g. greylisting (451) or a full queue.",
    reference: "https://www.rfc-editor.org/rfc/rfc6647",
  },
  date_after_first_hop: { severity: "info", how: SENDING_CLOCK, reference: `${RFC_5322}#section-3.6.1` },
  old_date: {
    severity: "info",
    how: "Check the clock of the sending host, and whether the message waited before it was sent.",
    reference: `${RFC_5322}#section-3.6.1`,
  },
  many_hops: {
    severity: "warning",
    how: "Look for a forwarding rule that sends the message back to a host it has passed.",
    reference: "https://www.rfc-editor.org/rfc/rfc5321#section-6.3",
  },
  dmarc_fail: {
    severity: "critical",
    how: "As the sender: sign with DKIM in the domain of From, or send with an envelope sender of that domain from a host that its SPF record allows. As the reader: do not trust the sender in From.",
    reference: "https://www.rfc-editor.org/rfc/rfc9989",
  },
  spf_fail: {
    severity: "warning",
    how: "If the host is one of yours, add it to the domain's SPF record, e.g. ip4:<address> before all; spf_now has the record.",
    reference: "https://www.rfc-editor.org/rfc/rfc7208#section-2.6.4",
  },
  spf_softfail: {
    severity: "info",
    how: "If the host is one of yours, add it to the domain's SPF record, e.g. ip4:<address> before all; spf_now has the record.",
    reference: "https://www.rfc-editor.org/rfc/rfc7208#section-2.6.5",
  },
  dkim_fail: {
    severity: "warning",
    how: "Check the keys with dkim (domain d=, selector s=), and check whether a host on the route changes the message after signing.",
    reference: `${RFC_6376}#section-6.1`,
  },
  authserv_id_foreign: {
    severity: "warning",
    how: "Trust only results that your own mail provider wrote. Paste the headers as its mailbox shows them.",
    reference: "https://www.rfc-editor.org/rfc/rfc8601#section-7.1",
  },
  results_not_counted: { severity: "info", how: null, reference: "https://www.rfc-editor.org/rfc/rfc8601#section-5" },
  arc_broken: {
    severity: "warning",
    how: "Have the host that sealed last add all three ARC fields, and seal a broken chain with cv=fail.",
    reference: "https://www.rfc-editor.org/rfc/rfc8617#section-5.2",
  },
  dkim_expired: {
    severity: "warning",
    how: "Sign with a later x=, or without x=; a week covers mail that waits in queues.",
    reference: `${RFC_6376}#section-3.5`,
  },
  dkim_partial_body: {
    severity: "warning",
    how: "Sign without l=, so that the signature covers the whole body.",
    reference: `${RFC_6376}#section-8.2`,
  },
  dkim_issues: {
    severity: "info",
    how: "Correct the signing program's configuration as described in the message.",
    reference: `${RFC_6376}#section-3.5`,
  },
} as const satisfies AdviceTable<string>;

/** Severity and advice for each kind of finding. */
export const HEADER_ADVICE = {
  ...ANOMALY_ADVICE,
  "dkim-signature-fault": { ...ANOMALY_ADVICE.dkim_issues, severity: "warning" },
  "arc-set-fault": { ...ANOMALY_ADVICE.dkim_issues, severity: "warning" },
  "list-unsubscribe-fault": {
    severity: "warning",
    how: "Send List-Unsubscribe: <https://example.com/unsubscribe?id=1> and List-Unsubscribe-Post: List-Unsubscribe=One-Click, and sign both fields with DKIM (h=).",
    reference: "https://www.rfc-editor.org/rfc/rfc8058#section-3.1",
  },
  "spf-not-passed-today": { severity: "info", how: null, reference: SPF_RESULTS },
  "spf-changed": { severity: "info", how: null, reference: SPF_RESULTS },
} as const satisfies AdviceTable<string>;
