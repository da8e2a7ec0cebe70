import { finding } from "#probe-agent/analysis/text/findings.ts";
import { when, type AnomalyDraft, type ParsedHeaders } from "#probe-agent/tools/email-header/anomaly.ts";
import { INVISIBLE } from "#probe-agent/tools/email-header/domains.ts";

/** Fields that a message can have only once (RFC 5322 section 3.6). */
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
/** Visible fields. If one is repeated, filters and readers can see different values. */
const SHOWN = new Set(["From", "Sender", "Subject", "Date", "To", "Reply-To"]);
const MESSAGE_ID = /^<[^<>@\s]{1,900}@[^<>@\s]{1,255}>$/;
// oxlint-disable-next-line no-control-regex -- the whole ASCII range is meant
const NON_ASCII = /[^\u0000-\u007F]/;
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/;

/** Finds faults of the header block as text: missing, repeated and malformed fields. */
export function formAnomalies(parsed: ParsedHeaders): AnomalyDraft[] {
  return [
    ...findMissingFields(parsed),
    ...findDuplicates(parsed),
    ...findMalformedId(parsed),
    ...findOddCharacters(parsed),
    ...findBadEncodedWords(parsed),
    ...findBadAddressSyntax(parsed),
    ...findBadLines(parsed),
  ];
}

/** Finds required and usual fields that are missing. */
function findMissingFields({ byKey }: ParsedHeaders): AnomalyDraft[] {
  const has = (name: string): boolean => byKey.has(name);
  return [
    ...when(!has("from"), "missing_from", "From", "There is no From field."),
    ...when(!has("date"), "missing_date", "Date", "There is no Date field."),
    ...when(!has("message-id"), "missing_message_id", "Message-ID", "There is no Message-ID field."),
    ...when(
      !has("received"),
      "missing_received",
      "Received",
      "There is no Received field, so the route cannot be traced.",
    ),
  ];
}

/** Finds fields that occur more than once and must not. */
function findDuplicates({ byKey }: ParsedHeaders): AnomalyDraft[] {
  return SINGLETONS.flatMap((name) => {
    const times = byKey.get(name.toLowerCase())?.length ?? 0;
    const severity = SHOWN.has(name) ? "critical" : "warning";
    return times < 2 ? [] : [finding("duplicate_field", name, `The field ${name} occurs ${times} times.`, severity)];
  });
}

/** Finds a Message-ID in the wrong form. */
function findMalformedId({ result }: ParsedHeaders): AnomalyDraft[] {
  const id = result.message_id;
  return when(
    id !== null && !MESSAGE_ID.test(id),
    "malformed_message_id",
    "Message-ID",
    "The Message-ID does not have the form <left@right>.",
  );
}

/** Finds control, non-ASCII and invisible characters. */
function findOddCharacters({ block, result }: ParsedHeaders): AnomalyDraft[] {
  const { fields } = block;
  return [
    ...when(
      fields.some(({ value }) => CONTROL.test(value)),
      "control_characters",
      null,
      "A field contains control characters.",
    ),
    ...when(
      fields.some(({ value }) => NON_ASCII.test(value)),
      "eight_bit",
      null,
      "A field contains unencoded non-ASCII characters: only servers with SMTPUTF8 can relay it (RFC 6532).",
    ),
    ...when(
      INVISIBLE.test(result.subject ?? ""),
      "invisible_characters",
      "Subject",
      "The subject contains invisible or direction-changing characters.",
    ),
  ];
}

/** Finds encoded words (RFC 2047) that cannot be decoded. */
function findBadEncodedWords({ malformedWords, addressFaults }: ParsedHeaders): AnomalyDraft[] {
  return [
    ...when(
      malformedWords > 0,
      "malformed_encoded_word",
      null,
      "An encoded word cannot be decoded (RFC 2047); it is shown unchanged.",
    ),
    ...when(
      addressFaults.has("encoded_word_in_quotes"),
      "encoded_word_in_quotes",
      null,
      "An encoded word is inside quotation marks, where it must not be decoded (RFC 2047 section 5).",
    ),
  ];
}

/** Finds syntax faults of address fields. */
function findBadAddressSyntax({ addressFaults }: ParsedHeaders): AnomalyDraft[] {
  return [
    ...when(
      addressFaults.has("unclosed"),
      "unclosed_syntax",
      null,
      "An address field has an unclosed quotation mark, comment or bracket.",
    ),
    ...when(
      addressFaults.has("malformed"),
      "malformed_address",
      null,
      "An address field has unquoted text that is neither a display name nor an address (RFC 5322 section 3.4).",
    ),
    ...when(
      addressFaults.has("obsolete_route"),
      "obsolete_route",
      null,
      "An address has a route, which is obsolete (RFC 5322 section 4.4).",
    ),
  ];
}

/** Finds faults of line endings, line lengths and folding. */
function findBadLines({ block, result }: ParsedHeaders): AnomalyDraft[] {
  const { faults } = block;
  return [
    ...when(result.line_endings === "mixed", "mixed_line_endings", null, "The lines have different line endings."),
    ...when(faults.long_line > 0, "long_line", null, "A line has more than 998 characters (RFC 5322 section 2.1.1)."),
    ...when(
      faults.unindented_continuation > 0 || faults.stray_line > 0,
      "malformed_line",
      null,
      `${faults.unindented_continuation + faults.stray_line} lines neither begin a field nor are indented.`,
    ),
    ...when(
      faults.space_before_colon > 0 || faults.blank_continuation > 0,
      "obsolete_syntax",
      null,
      "A field has white space in places that are obsolete since RFC 2822.",
    ),
  ];
}
