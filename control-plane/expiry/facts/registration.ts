import { isRecord } from "#shared/is-record.ts";
import type { Registration } from "#shared/monitor-checks/registration.ts";
import { boundedText, readTime } from "#control-plane/expiry/facts/text.ts";

/** What a registry says about a domain. */
export interface RegistrationFacts extends Registration {
  readonly registrar: string | null;
  readonly source: "rdap" | "whois";
}

const MOST_REGISTRAR = 200;
const MOST_STATUSES = 20;
const MOST_STATUS = 100;

/**
 * Reads the result of the whois tool. Returns null if it is not one. A date that cannot be meant, such as an expiry
 * before the registration, counts as not stated.
 */
export function readRegistration(whole: unknown): RegistrationFacts | null {
  if (!isRecord(whole) || whole["kind"] !== "domain") return null;
  const { registered, registrar, status, source } = whole;
  const created = readTime(whole["created"]);
  const expires = readTime(whole["expires"]);
  const isMeant = expires !== null && (created === null || Date.parse(expires) > Date.parse(created));
  const words = Array.isArray(status) ? (status as readonly unknown[]) : [];
  return {
    registered: typeof registered === "boolean" ? registered : null,
    registrar: isRecord(registrar) ? boundedText(registrar["name"], MOST_REGISTRAR) : null,
    expires: isMeant ? expires : null,
    status: words.slice(0, MOST_STATUSES).flatMap((word) => boundedText(word, MOST_STATUS) ?? []),
    source: source === "rdap" ? "rdap" : "whois",
  };
}
