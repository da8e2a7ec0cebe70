import { findText } from "#control-plane/notify/webhooks/formats/reference.ts";

/**
 * How a provider refuses a message in the body of an answer whose status is success. permanent: it would refuse the same
 * message again.
 */
export type Refusal = "permanent" | "temporary";

/** Statuses of HTTP of the class "client error" with which the same request can succeed later. */
const LATER: ReadonlySet<string> = new Set(["408", "423", "425", "429"]);
const CLIENT_ERROR = /^4\d\d$/;

/** Judges a refusal by the status of HTTP that it names; null if it names none. */
export function refusalOf(status: string | null): Refusal {
  return status !== null && CLIENT_ERROR.test(status) && !LATER.has(status) ? "permanent" : "temporary";
}

/**
 * Creates the reader of a provider whose refusals are JSON with a certain member. `sign`: its path. `status`: the path of
 * the status of HTTP.
 */
export function refusesWith(
  sign: readonly string[],
  status: readonly string[] = sign,
): (bodyStart: string) => Refusal | null {
  return (bodyStart) => (findText(bodyStart, sign) === null ? null : refusalOf(findText(bodyStart, status)));
}
