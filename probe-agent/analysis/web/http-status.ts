import { parseHttpDate } from "#probe-agent/analysis/http/http-date.ts";
import { REGISTERED } from "#probe-agent/analysis/web/http-status/registered.ts";
import { UNREGISTERED } from "#probe-agent/analysis/web/http-status/unregistered.ts";

/** Classes of RFC 9110 section 15; "invalid" for codes outside of 100 to 599. */
const STATUS_CLASSES = ["informational", "success", "redirection", "client_error", "server_error", "invalid"] as const;
/** One of the classes. */
type StatusClass = (typeof STATUS_CLASSES)[number];

/** What a status code says. */
interface StatusDescription {
  readonly class: StatusClass;
  /** Name of the registry or of the vendor; null where nobody is known to use the code. */
  readonly name: string | null;
  readonly meaning: string;
  readonly registered: boolean;
  /** Who is known for an unregistered code. */
  readonly vendor: string | null;
}

/** Looks a code up. */
export function describeStatus(code: number): StatusDescription {
  const statusClass = STATUS_CLASSES[Math.floor(code / 100) - 1] ?? "invalid";
  const registered = REGISTERED.get(code);
  if (registered !== undefined) return { class: statusClass, ...registered, registered: true, vendor: null };
  const known = UNREGISTERED.get(code);
  if (known !== undefined) return { class: statusClass, ...known, registered: false };
  const meaning =
    statusClass === "invalid"
      ? "Not a status code of HTTP: clients treat it as a server error (RFC 9110 section 15)."
      : `Not registered: clients treat it as ${Math.floor(code / 100)}00 (RFC 9110 section 15).`;
  return { class: statusClass, name: null, meaning, registered: false, vendor: null };
}

/** Longest wait taken at its word, seconds: ten years. */
const MAX_WAIT_S = 315_360_000;

/** Seconds a Retry-After asks to wait, from `now` (RFC 9110 section 10.2.3): 0 for a date past; null for no such value. */
export function retryAfterSeconds(value: string, now: Date): number | null {
  const text = value.trim();
  if (/^\d+$/.test(text)) return Math.min(MAX_WAIT_S, Number(text));
  const date = parseHttpDate(text, now);
  if (date === null) return null;
  return Math.min(MAX_WAIT_S, Math.max(0, Math.ceil((date.getTime() - now.getTime()) / 1000)));
}
