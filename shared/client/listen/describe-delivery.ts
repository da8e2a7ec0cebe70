import { safeBody, safeLine } from "#shared/client/listen/safe-text.ts";
import { TOLERANCE_SECONDS, type DeliveryVerdict } from "#shared/webhooks/verify.ts";

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
