import {
  anomaly,
  when,
  type Anomaly,
  type Examined,
} from "#probe-agent/analysis/mail/email-headers/anomalies/anomaly.ts";
import { INVISIBLE } from "#probe-agent/analysis/mail/email-headers/domains.ts";

/** Fields a message has at most once (RFC 5322 section 3.6). */
const SINGLETONS = [
  "Date",
  "From",
  "Sender",
  "Reply-To",
  "To",
  "Cc",
  "Bcc",
  "Message-ID",
  "In-Reply-To",
  "References",
  "Subject",
  "MIME-Version",
  "Content-Type",
  "Content-Transfer-Encoding",
];
/** Duplicates of these show one thing to the filter and another to the reader. */
const SHOWN = new Set(["From", "Sender", "Subject", "Date", "To", "Reply-To"]);
const MESSAGE_ID = /^<[^<>@\s]{1,900}@[^<>@\s]{1,255}>$/;
// oxlint-disable-next-line no-control-regex -- the whole ASCII range is meant
const NON_ASCII = /[^\u0000-\u007F]/;
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/;

/** Finds faults of the header block as text: missing, repeated and malformed fields. */
export function formAnomalies(examined: Examined): Anomaly[] {
  return [
    ...findMissingFields(examined),
    ...findDuplicates(examined),
    ...findMalformedId(examined),
    ...findOddCharacters(examined),
    ...findBadEncodedWords(examined),
    ...findBadAddressSyntax(examined),
    ...findBadLines(examined),
  ];
}

/** Finds required and usual fields that are missing. */
function findMissingFields({ byKey }: Examined): Anomaly[] {
  const has = (name: string): boolean => byKey.has(name);
  return [
    ...when(!has("from"), "critical", "missing_from", "From", "There is no From field."),
    ...when(!has("date"), "warning", "missing_date", "Date", "There is no Date field."),
    ...when(!has("message-id"), "warning", "missing_message_id", "Message-ID", "There is no Message-ID field."),
    ...when(!has("received"), "info", "missing_received", "Received", "No Received field: no way can be traced."),
  ];
}

/** Finds fields that occur more than once and must not. */
function findDuplicates({ byKey }: Examined): Anomaly[] {
  return SINGLETONS.flatMap((name) => {
    const times = byKey.get(name.toLowerCase())?.length ?? 0;
    const severity = SHOWN.has(name) ? "critical" : "warning";
    return times < 2 ? [] : [anomaly(severity, "duplicate_field", name, `${name} stands there ${times} times.`)];
  });
}

/** Finds a Message-ID in the wrong form. */
function findMalformedId({ result }: Examined): Anomaly[] {
  const id = result.message_id;
  return [
    ...when(
      id !== null && !MESSAGE_ID.test(id),
      "info",
      "malformed_message_id",
      "Message-ID",
      "The Message-ID is not of the form <left@right>.",
    ),
  ];
}

/** Finds control, non-ASCII and invisible characters. */
function findOddCharacters({ block, result }: Examined): Anomaly[] {
  const { fields } = block;
  return [
    ...when(
      fields.some(({ value }) => CONTROL.test(value)),
      "warning",
      "control_characters",
      null,
      "Control characters stand in a field.",
    ),
    ...when(
      fields.some(({ value }) => NON_ASCII.test(value)),
      "info",
      "eight_bit",
      null,
      "A field holds characters outside ASCII unencoded: only servers with SMTPUTF8 may pass it on (RFC 6532).",
    ),
    ...when(
      INVISIBLE.test(result.subject ?? ""),
      "warning",
      "invisible_characters",
      "Subject",
      "The subject holds invisible or direction-changing characters.",
    ),
  ];
}

/** Finds encoded words (RFC 2047) that cannot be decoded. */
function findBadEncodedWords({ malformedWords, addressFaults }: Examined): Anomaly[] {
  return [
    ...when(
      malformedWords > 0,
      "info",
      "malformed_encoded_word",
      null,
      "An encoded word cannot be decoded (RFC 2047); it is shown as written.",
    ),
    ...when(
      addressFaults.has("encoded_word_in_quotes"),
      "info",
      "encoded_word_in_quotes",
      null,
      "An encoded word stands in quotes, where it must not be decoded (RFC 2047 section 5).",
    ),
  ];
}

/** Finds syntax faults of address fields. */
function findBadAddressSyntax({ addressFaults }: Examined): Anomaly[] {
  return [
    ...when(
      addressFaults.has("unclosed"),
      "warning",
      "unclosed_syntax",
      null,
      "An address field has a quote, comment or bracket without end.",
    ),
    ...when(
      addressFaults.has("malformed"),
      "info",
      "malformed_address",
      null,
      "An address field holds unquoted text that is neither a name before an address nor an address (RFC 5322 section 3.4).",
    ),
    ...when(
      addressFaults.has("obsolete_route"),
      "info",
      "obsolete_route",
      null,
      "An address has a route, which is obsolete (RFC 5322 section 4.4).",
    ),
  ];
}

/** Finds faults of line endings, line lengths and folding. */
function findBadLines({ block, result }: Examined): Anomaly[] {
  const { faults } = block;
  return [
    ...when(result.line_endings === "mixed", "info", "mixed_line_endings", null, "Lines end in different ways."),
    ...when(
      faults.long_line > 0,
      "info",
      "long_line",
      null,
      "A line has more than 998 characters (RFC 5322 section 2.1.1).",
    ),
    ...when(
      faults.unindented_continuation > 0 || faults.stray_line > 0,
      "warning",
      "malformed_line",
      null,
      `${faults.unindented_continuation + faults.stray_line} lines are neither a field nor indented.`,
    ),
    ...when(
      faults.space_before_colon > 0 || faults.blank_continuation > 0,
      "info",
      "obsolete_syntax",
      null,
      "White space stands where it has been obsolete since RFC 2822.",
    ),
  ];
}
