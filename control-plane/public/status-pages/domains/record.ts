import type { Static } from "typebox";
import type { dns } from "#shared/tools/dns/contract.ts";
import type { DomainState, StatusPage } from "#control-plane/public/status-pages/settings/page-settings.ts";

/** Label of the record below the domain. */
const LABEL = "_vantage";

/** The DNS record that proves who has a domain. */
interface DomainRecord {
  readonly name: string;
  readonly type: "TXT";
  readonly value: string;
}

/** Returns the record that verifies the domain of the page with a token. */
export function recordOf(domain: string, token: string): DomainRecord {
  return { name: `${LABEL}.${domain}`, type: "TXT", value: `vantage-page=${token}` };
}

/**
 * Reports whether a result of the tool dns has a TXT record with this value. The record can be behind an alias, as it is
 * where the names of a zone are kept elsewhere.
 */
function hasRecord({ results }: Pick<Static<typeof dns.result>, "results">, { value }: DomainRecord): boolean {
  return results.some(
    ({ status, records }) => status === "NOERROR" && records.some(({ text }) => text?.trim() === value),
  );
}

/** What a look-up says about a record; unknown: it failed, which says nothing. */
type Look = "found" | "missing" | "unknown";

/** Reads what a result of the tool dns says about a record; null: the tool failed. */
export function readLook(result: Pick<Static<typeof dns.result>, "results"> | null, record: DomainRecord): Look {
  if (result === null) return "unknown";
  if (hasRecord(result, record)) return "found";
  const isAnswered = result.results.every(({ status }) => status === "NOERROR" || status === "NXDOMAIN");
  return isAnswered && result.results.length > 0 ? "missing" : "unknown";
}

/** Time after which a claim without its record has failed, and is looked at less often, in milliseconds. */
const CLAIM_MS = 86_400_000;
/** Time for which only the account that gave up a verified domain can take it, in milliseconds. */
export const HELD_MS = 7 * 86_400_000;
/** Time for which the record of a verified domain is missing until another page can take it over, in milliseconds. */
export const GONE_MS = 7 * 86_400_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Time between two looks at a claim on its first day, in milliseconds. */
const FIRST_DAY_MS = 600_000;

/** A domain after a look. */
export interface DomainAfterLook {
  readonly state: DomainState;
  /** When its record is asked for next. */
  readonly nextAt: Date;
  /** When the record of a verified domain was first missed; null if it stands, or was never missed. */
  readonly missingSince: Date | null;
}

/** Decides about a claim after a look. `isFree`: no other page has the domain, or the other one has lost it. */
export function decideClaim(look: Look, isFree: boolean, claimedAt: Date, now: Date): DomainAfterLook {
  const isFound = look === "found";
  if (isFound && isFree) return { state: "verified", nextAt: new Date(now.getTime() + DAY_MS), missingSince: null };
  const isFirstDay = now.getTime() - claimedAt.getTime() < CLAIM_MS;
  const nextAt = new Date(now.getTime() + (isFirstDay ? FIRST_DAY_MS : HOUR_MS));
  return { state: isFound || isFirstDay ? "pending" : "failed", nextAt, missingSince: null };
}

/**
 * Decides about a verified domain after a look. It stays verified when its record vanishes: people remove records that
 * have done their work, and a page must not go away for that, unless somebody else proves that the domain is his.
 */
export function decideVerified(look: Look, missingSince: Date | null, now: Date): DomainAfterLook {
  const nextAt = new Date(now.getTime() + (look === "unknown" ? HOUR_MS : DAY_MS));
  const since = { found: null, missing: missingSince ?? now, unknown: missingSince }[look];
  return { state: "verified", nextAt, missingSince: since };
}

/** Returns what the account of a page should know about its domain; null: nothing. */
export function noteDomain({
  domain,
  domainMissingSince: since,
  isDomainTaken,
}: Pick<StatusPage, "domain" | "domainMissingSince" | "isDomainTaken">): string | null {
  if (domain === null) return null;
  if (since !== null) {
    const lostAt = new Date(since.getTime() + GONE_MS).toISOString();
    return (
      `The record of ${domain} has been missing since ${since.toISOString()}. Publish it again: from ${lostAt} on, ` +
      "another page that publishes its own record gets the domain."
    );
  }
  if (!isDomainTaken) return null;
  return (
    `Another status page has the domain ${domain}. This one gets it when its own record stands and that of the other ` +
    "page has been missing for 7 days, or 7 days after another account has given it up."
  );
}
