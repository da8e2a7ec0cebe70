import { parseHttpDate } from "#probe-agent/analysis/http/http-date.ts";
import { REGISTERED } from "#probe-agent/analysis/web/http-status/registered.ts";
import { UNREGISTERED } from "#probe-agent/analysis/web/http-status/unregistered.ts";

/** Classes of RFC 9110 section 15; "invalid" for codes outside the range 100 to 599. */
const STATUS_CLASSES = ["informational", "success", "redirection", "client_error", "server_error", "invalid"] as const;
/** One of the classes. */
type StatusClass = (typeof STATUS_CLASSES)[number];

/** Description of a status code. */
interface StatusDescription {
  readonly class: StatusClass;
  /** Name by the registry or the vendor; null if no use of the code is known. */
  readonly name: string | null;
  readonly meaning: string;
  readonly registered: boolean;
  /** Product or service known for an unregistered code; else null. */
  readonly vendor: string | null;
}

/** Returns the description of a code. */
export function describeStatus(code: number): StatusDescription {
  const statusClass = STATUS_CLASSES[Math.floor(code / 100) - 1] ?? "invalid";
  const registered = REGISTERED.get(code);
  if (registered !== undefined) return { class: statusClass, ...registered, registered: true, vendor: null };
  const known = UNREGISTERED.get(code);
  if (known !== undefined) return { class: statusClass, ...known, registered: false };
  const meaning =
    statusClass === "invalid"
      ? "Not an HTTP status code. Clients treat it as a server error (RFC 9110 section 15)."
      : `Not registered. Clients treat it as ${Math.floor(code / 100)}00 (RFC 9110 section 15).`;
  return { class: statusClass, name: null, meaning, registered: false, vendor: null };
}

/** Maximum wait that is reported, in seconds: ten years. */
const MAX_WAIT_S = 315_360_000;

/**
 * Returns the wait that a Retry-After requests, in seconds from `now` (RFC 9110 section 10.2.3). It is 0 for a date in
 * the past, and null for an invalid value.
 */
export function retryAfterSeconds(value: string, now: Date): number | null {
  const text = value.trim();
  if (/^\d+$/.test(text)) return Math.min(MAX_WAIT_S, Number(text));
  const date = parseHttpDate(text, now);
  if (date === null) return null;
  return Math.min(MAX_WAIT_S, Math.max(0, Math.ceil((date.getTime() - now.getTime()) / 1000)));
}
