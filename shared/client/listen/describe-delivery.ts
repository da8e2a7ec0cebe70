import { TOLERANCE_SECONDS, type DeliveryVerdict } from "#shared/webhooks/verify.ts";
import { showHidden } from "#shared/text/hidden-characters.ts";
import { isExactNumber } from "#shared/audit/exact-number.ts";
import { findJsonFault } from "#shared/json/faults.ts";

/** A request that is printed. */
interface ShownDelivery {
  readonly at: Date;
  /** What is wrong with it, as the end of a sentence; null: verified. */
  readonly problem: string | null;
  /** Values by lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  /** true: a verified delivery had the same webhook-id. */
  readonly isRepeated: boolean;
}

const LONGEST_VALUE = 100;

/** Bodies up to this length are indented; an event has a few thousand bytes. */
const LONGEST_INDENTED = 65_536;
/** Maximum nesting of what is indented: the indentation of deep JSON is many times its length. */
const DEEPEST = 32;
const LONGEST_LINE = 2_000;

/** Returns what is wrong with a delivery, as the end of a sentence; null if it is valid. */
export function problemOf(verdict: DeliveryVerdict): string | null {
  switch (verdict.status) {
    case "valid":
      return null;
    case "missing_header":
      return `the header ${verdict.header} is missing`;
    case "malformed_header":
      return `the header ${verdict.header} has a value that no delivery has`;
    case "different_times":
      return "x-service-timestamp and webhook-timestamp are different";
    case "too_old":
      return `its timestamp is ${verdict.seconds} s old, and ${TOLERANCE_SECONDS} s are allowed`;
    case "too_new":
      return `its timestamp is ${verdict.seconds} s in the future, and ${TOLERANCE_SECONDS} s are allowed`;
    default: {
      const header = verdict.scheme === "v2" ? "x-service-signature-v2" : "webhook-signature";
      return `${header} does not match this body and the secret`;
    }
  }
}

/**
 * Formats a delivery: a line about it, then its body. Everything in it is another party's text, so the body is indented:
 * no line of it looks like a line about a delivery. The signatures cover the id of the event and the body alone.
 */
export function describeDelivery({ at, problem, headers, body, isRepeated }: ShownDelivery): string {
  const value = (name: string): string => safeLine(headers[name] ?? "-", LONGEST_VALUE);
  const verdict = problem === null ? "verified" : `NOT verified: ${problem};`;
  const fields = [
    value("x-service-event"),
    `delivery ${value("x-service-delivery")}`,
    `attempt ${value("x-service-attempt")}`,
    `event ${value("webhook-id")}`,
  ].join(", ");
  const line = `${at.toISOString()} ${verdict} ${fields}${isRepeated ? " (repeated)" : ""}`;
  return [line, ...safeBody(body).map((each) => `  ${each}`)].join("\n");
}

/** Returns a text of another party as one line of limited length that cannot control a terminal. */
function safeLine(text: string, longest = LONGEST_LINE): string {
  const shown = showHidden(text.slice(0, longest));
  return text.length > longest ? `${shown} ... (${text.length} characters)` : shown;
}

/**
 * Returns a body as lines that cannot control a terminal: JSON indented, everything else in one line. JSON that is deep,
 * has a key twice or a number that no double holds is not indented, because the printed form would differ from it.
 */
function safeBody(body: Uint8Array): readonly string[] {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(body);
  if (text === "") return [];
  const value = body.length > LONGEST_INDENTED ? null : readJson(text);
  if (value === null) return [safeLine(text)];
  return JSON.stringify(value.json, null, 2)
    .split("\n")
    .map((line) => showHidden(line));
}

function readJson(text: string): { readonly json: unknown } | null {
  try {
    if (findJsonFault(text, { deepest: DEEPEST, acceptsNumber: isExactNumber }) !== null) return null;
    return { json: JSON.parse(text) };
  } catch {
    return null;
  }
}
