import { timingSafeEqual } from "node:crypto";
import { signStandard, signV2 } from "#shared/webhooks/signature.ts";

/** A request as a receiver has it. */
interface ReceivedRequest {
  /** Values by lower-case name. Of a repeated field, the values joined. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The bytes of the body as they arrived: JSON that was parsed and written again has other bytes. */
  readonly body: Uint8Array;
  /** The secret as it was shown, with its prefix. */
  readonly secret: string;
  /** The receiver's time. */
  readonly now: Date;
}

/** The headers that every delivery has. */
const REQUIRED = [
  "webhook-id",
  "webhook-timestamp",
  "webhook-signature",
  "x-service-timestamp",
  "x-service-signature-v2",
] as const;

/** What the replaced secret signed, during 24 hours after a rotation. */
const PREVIOUS = "x-service-signature-v2-previous";

/** The name of a header that every delivery has. */
type RequiredHeader = (typeof REQUIRED)[number];

/**
 * Result of a verification. missing_header: it is absent or empty. malformed_header: no delivery has this value.
 * different_times: the two sets of headers have two times. too_old, too_new: the clocks differ, or somebody repeats a
 * request. forged: this secret did not sign this body at this time in this scheme.
 */
export type DeliveryVerdict =
  | { readonly status: "valid" }
  | { readonly status: "missing_header"; readonly header: RequiredHeader }
  | { readonly status: "malformed_header"; readonly header: string }
  | { readonly status: "different_times" }
  | { readonly status: "too_old" | "too_new"; readonly seconds: number }
  | { readonly status: "forged"; readonly scheme: "v2" | "standard" };

/** Largest distance of a timestamp from the receiver's time, seconds: as in the libraries of Standard Webhooks 1.0.0. */
export const TOLERANCE_SECONDS = 300;
/** Longest value that is read, in characters: ten signatures of Standard Webhooks have fewer than 500. */
const LONGEST_HEADER = 1_024;
const MOST_SIGNATURES = 10;

/**
 * Verifies that the holder of a secret sent a request within the last minutes. Both schemes are verified: X-Service-
 * Signature-V2 and Standard Webhooks 1.0.0. After a rotation the old secret signs too, so that either secret is enough.
 */
export function verifyDelivery({ headers, body, secret, now }: ReceivedRequest): DeliveryVerdict {
  const missing = REQUIRED.find((name) => (headers[name] ?? "") === "");
  if (missing !== undefined) return { status: "missing_header", header: missing };
  const malformed = [...REQUIRED, PREVIOUS].find((name) => !isWellFormed(name, headers[name]));
  if (malformed !== undefined) return { status: "malformed_header", header: malformed };
  const value = (name: RequiredHeader): string => headers[name] ?? "";

  if (value("x-service-timestamp") !== value("webhook-timestamp")) return { status: "different_times" };
  const timestamp = Number(value("webhook-timestamp"));
  const age = Math.floor(now.getTime() / 1_000) - timestamp;
  if (age > TOLERANCE_SECONDS) return { status: "too_old", seconds: age };
  if (age < -TOLERANCE_SECONDS) return { status: "too_new", seconds: -age };

  const v2 = [value("x-service-signature-v2"), headers[PREVIOUS] ?? ""];
  if (!includesSignature(v2, signV2(secret, timestamp, body))) return { status: "forged", scheme: "v2" };
  const standard = value("webhook-signature").split(" ");
  const expected = signStandard(secret, value("webhook-id"), timestamp, body);
  return includesSignature(standard, expected) ? { status: "valid" } : { status: "forged", scheme: "standard" };
}

/** Reports whether a delivery can have this value; an absent header can be. */
function isWellFormed(name: string, value = ""): boolean {
  if (value.length > LONGEST_HEADER) return false;
  // Eleven digits last until the year 5138, and every number of them is exact.
  if (name.endsWith("-timestamp")) return /^[1-9][0-9]{0,10}$/.test(value);
  return name !== "webhook-signature" || value.split(" ", MOST_SIGNATURES + 1).length <= MOST_SIGNATURES;
}

/** Compares in a time that depends on the lengths alone, which are no secret. */
function includesSignature(given: readonly string[], expected: string): boolean {
  const right = Buffer.from(expected, "utf8");
  let isFound = false;
  for (const one of given) {
    const left = Buffer.from(one, "utf8");
    if (left.length === right.length && timingSafeEqual(left, right)) isFound = true;
  }
  return isFound;
}
