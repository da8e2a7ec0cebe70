import { isRecord } from "#shared/text/is-record.ts";
import type { Registration } from "#shared/monitor-checks/registration.ts";
import { topLevelOf } from "#control-plane/watching/expiry/links/targets.ts";
import { boundedText, readTime } from "#control-plane/watching/expiry/observed/text.ts";

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

/**
 * Top-level domains whose registries state no end of a registration, neither in WHOIS nor in RDAP: a registration goes on
 * until it is cancelled (the registries' own answers, 2026).
 */
const WITHOUT_END: ReadonlySet<string> = new Set(["at", "be", "ch", "de", "eu", "hu", "li", "lu", "nl", "no"]);

/** Reports whether a registry may state when a domain's registration ends, as far as is known without asking it. */
export function mayPublishEnd(domain: string): boolean {
  return !WITHOUT_END.has(topLevelOf(domain));
}

/** Reports whether a registry has stated an end; true also of a domain that it does not say is registered. */
export function publishesEnd({ registered, expires }: Pick<RegistrationFacts, "registered" | "expires">): boolean {
  return expires !== null || registered !== true;
}

/** Says what is left to watch about a domain whose end is not stated. */
export function describeNoEnd(domain: string): string {
  return `The registry of .${topLevelOf(domain)} publishes no end: only presence and status are watched.`;
}

const MOST_SERVICE = 260;
/** Host and port. */
const SERVICE = /^[a-z0-9.-]+(?::[0-9]{1,5})?$/;

/**
 * Reads which service answered: the host of the registry's RDAP service, else its WHOIS server. null if it is not named, or
 * in no form that can be meant.
 */
export function readService(whole: unknown): string | null {
  if (!isRecord(whole)) return null;
  const { rdap_server: rdap, whois_server: whois } = whole;
  const url = typeof rdap === "string" && URL.canParse(rdap) ? new URL(rdap).host : null;
  const host = (url ?? boundedText(whois, MOST_SERVICE + 1))?.toLowerCase() ?? "";
  return host.length <= MOST_SERVICE && SERVICE.test(host) ? host : null;
}
